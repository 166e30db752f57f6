# SPDX-License-Identifier: LGPL-2.1-or-later
"""Decodes a video with its sound, encodes the result, and filters its tags."""
import frames
from gi.repository import Gst

# For each container: the audio formats that it takes without transcoding, and audio/x-raw. Matroska also takes the formats in
# `commented`, whose headers contain comments, so they are transcoded unless tags are kept.
commented = ";audio/x-vorbis;audio/x-flac,framed=true"
sound_formats = {
    "mkv": "audio/mpeg,mpegversion=1,parsed=true;audio/mpeg,mpegversion={2,4},stream-format=raw;audio/x-ac3,framed=true;"
           "audio/x-eac3,framed=true;audio/x-opus;audio/x-raw",
    "mp4": "audio/mpeg,mpegversion=1,parsed=true;audio/mpeg,mpegversion=4,stream-format=raw;audio/x-ac3,framed=true;audio/x-raw"}
encoders = {"mkv": "vp8enc deadline=1 target-bitrate={bitrate} ! matroskamux",
            # x264enc needs even sizes. No h264parse, because it drops repeated timestamps, and mp4mux needs all timestamps.
            "mp4": "videoscale ! video/x-raw,format=I420,width=(int)[2,65534,2],height=(int)[2,65534,2] "
                   "! x264enc speed-preset=veryfast bitrate={kilobits} ! mp4mux"}
# Tags that are always kept. Other tags may reveal people and locations.
harmless = "language-code", "language-name"


def ending(name):
    return name.rsplit(".", 1)[-1].lower()


def film_of(name, container, keep_tags):
    """Returns the elements that decode a video. The element named film has a pad for the frames and a pad for each audio
    track."""
    formats = sound_formats[container] + (commented if keep_tags and container == "mkv" else "")
    return frames.decoder_of(name, f'name=film caps="video/x-raw(ANY);{formats}"')


def writer(name, bitrate):
    """Returns the elements that encode frames into a file, with a muxer named mux."""
    encoder = encoders[ending(name)].format(bitrate=bitrate, kilobits=bitrate // 1000)
    return f"{encoder} name=mux ! filesink location={frames.quoted(name)}"


def keep_sound(film, mux):
    """Links the audio pads of the element `film` to the muxer. decodebin has decoded the formats that the
    container does not take. For MP4, decoded audio is encoded as AAC."""
    def link(_, pad):
        kind = (pad.get_current_caps() or pad.query_caps(None)).get_structure(0).get_name()
        sink = mux.request_pad_simple("audio_%u") if kind.startswith("audio/") else None
        if not sink:
            return
        encoder = " ! avenc_aac ! aacparse" if mux.get_factory().get_name() == "mp4mux" else ""
        way = Gst.parse_bin_from_description(f"queue ! audioconvert ! audioresample{encoder}" if kind == "audio/x-raw" else "queue", True)
        film.get_parent().add(way)
        way.get_static_pad("src").link(sink)
        way.sync_state_with_parent()
        pad.link(way.get_static_pad("sink"))

    # decodebin adds all pads before the first frame passes, so the muxer gets its audio pads in time. RTSP may add pads later,
    # when the muxer accepts no new pads.
    film.connect("pad-added", link)


def allowed(tags, keep):
    """Returns the tags that may be written."""
    copy = tags.copy()
    for name in map(tags.nth_tag_name, range(tags.n_tags())):
        # Matroska muxers give these names to tracks without a title. If they were kept, they would become real titles.
        default = name == "title" and tags.get_scope() == Gst.TagScope.STREAM and tags.get_string(name)[1] in ("Audio", "Video")
        if default or not (keep or name in harmless):
            copy.remove_tag(name)
    return copy


def filter_tags(mux, keep):
    """Removes chapters and all tags except languages before the muxer; if `keep` is true, only default titles."""
    def probe(pad, info):
        event = info.get_event()
        if event.type == Gst.EventType.TOC:
            return Gst.PadProbeReturn.OK if keep else Gst.PadProbeReturn.DROP
        if event.type != Gst.EventType.TAG:
            return Gst.PadProbeReturn.OK
        tags = event.parse_tag()
        rest = allowed(tags, keep)
        if rest.n_tags() == tags.n_tags():
            return Gst.PadProbeReturn.OK
        if rest.n_tags():
            # Python cannot replace the event in a probe, so sends the remaining tags as a new event and drops the old one.
            pad.send_event(Gst.Event.new_tag(rest))
        return Gst.PadProbeReturn.DROP

    def watch(_, pad):
        if pad.get_direction() == Gst.PadDirection.SINK:
            pad.add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, probe)

    for pad in mux.sinkpads:
        watch(mux, pad)
    mux.connect("pad-added", watch)
