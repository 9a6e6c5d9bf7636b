package sdp

import (
	"fmt"
	"slices"
	"strconv"

	psdp "github.com/pion/sdp/v3"

	"parley/media/codec"
	"parley/media/opus"
)

// noiseType is the static payload type of comfort noise (RFC 3389 section 4), whose clock of 8 kHz every codec but Opus has.
const noiseType = "13"

// The payload types that our offers give to what has none of its own: for events at 8 kHz what everyone uses.
const (
	offerOpus       = 96
	offerEvents     = 101
	offerFastEvents = 102
)

// payloads are what the packets of a stream may carry. A payload type of 0 says that there is none.
type payloads struct {
	codecs     []codec.Codec // in order
	opusType   uint8
	noise      bool  // comfort noise
	events     uint8 // telephone events at 8 kHz
	fastEvents uint8 // telephone events at 48 kHz, the clock of Opus
}

// payloads are those of an answer, or of a later offer, that keeps to what is in force.
func (m Media) payloads() payloads {
	p := payloads{codecs: []codec.Codec{m.Codec}, opusType: m.Opus.Type, noise: m.Noise, events: m.Events}
	if m.FastEvents {
		p.events, p.fastEvents = 0, m.Events
	}
	return p
}

// complete gives payload types to what an offer has without one.
func (p *payloads) complete(withEvents bool) {
	withOpus := slices.Contains(p.codecs, codec.Opus)
	if withOpus && p.opusType == 0 {
		p.opusType = p.free(offerOpus)
	}
	if withEvents && p.events == 0 {
		p.events = p.free(offerEvents)
	}
	if withEvents && withOpus && p.fastEvents == 0 {
		p.fastEvents = p.free(offerFastEvents)
	}
}

// free is a payload type that nothing has, from pt on.
func (p *payloads) free(pt uint8) uint8 {
	for pt == p.opusType || pt == p.events || pt == p.fastEvents {
		pt++
	}
	return pt
}

// payloadType is that of a codec.
func (p payloads) payloadType(c codec.Codec) string {
	if c == codec.Opus {
		return strconv.Itoa(int(p.opusType))
	}
	return strconv.Itoa(int(c.PayloadType()))
}

// formats are the payload types in the order of a media line.
func (p payloads) formats() (list []string) {
	for _, c := range p.codecs {
		list = append(list, p.payloadType(c))
	}
	if p.noise {
		list = append(list, noiseType)
	}
	for _, events := range []uint8{p.events, p.fastEvents} {
		if events != 0 {
			list = append(list, strconv.Itoa(int(events)))
		}
	}
	return list
}

// opusWanted is what we want of the far end's Opus: audio of our rate in mono, at the bitrate of ours, with copies of what may be
// lost (RFC 7587 section 6.1).
var opusWanted = fmt.Sprintf("maxplaybackrate=%d;maxaveragebitrate=%d;stereo=0;useinbandfec=1", codec.Opus.Rate(), opus.DefaultBitrate)

// attributes say what the payload types mean.
func (p payloads) attributes() (list []psdp.Attribute) {
	for _, c := range p.codecs {
		pt := p.payloadType(c)
		if c == codec.Opus {
			list = append(list, psdp.NewAttribute("rtpmap", pt+" opus/48000/2"), psdp.NewAttribute("fmtp", pt+" "+opusWanted))
			continue
		}
		list = append(list, psdp.NewAttribute("rtpmap", pt+" "+c.String()+"/8000"))
	}
	if p.noise {
		list = append(list, psdp.NewAttribute("rtpmap", noiseType+" CN/8000"))
	}
	for i, events := range []uint8{p.events, p.fastEvents} {
		if events != 0 {
			pt := strconv.Itoa(int(events))
			list = append(list, psdp.NewAttribute("rtpmap", pt+[]string{" telephone-event/8000", " telephone-event/48000"}[i]), psdp.NewAttribute("fmtp", pt+" 0-15"))
		}
	}
	return list
}
