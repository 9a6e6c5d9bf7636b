package sdp

import (
	"strconv"

	psdp "github.com/pion/sdp/v3"

	"parley/media/codec"
)

// noiseType is the static payload type of comfort noise (RFC 3389 section 4), whose clock of 8 kHz every codec has.
const noiseType = "13"

// payloads are what the packets of a stream may carry.
type payloads struct {
	codecs []codec.Codec // in order
	noise  bool          // comfort noise
	events uint8         // payload type of telephone events; 0: none
}

// payloads are those of an answer, or of a later offer, that keeps to what is in force.
func (m Media) payloads() payloads {
	return payloads{codecs: []codec.Codec{m.Codec}, noise: m.Noise, events: m.Events}
}

// formats are the payload types in the order of a media line.
func (p payloads) formats() (list []string) {
	for _, c := range p.codecs {
		list = append(list, strconv.Itoa(int(c)))
	}
	if p.noise {
		list = append(list, noiseType)
	}
	if p.events != 0 {
		list = append(list, strconv.Itoa(int(p.events)))
	}
	return list
}

// attributes say what the payload types mean.
func (p payloads) attributes() (list []psdp.Attribute) {
	for _, c := range p.codecs {
		list = append(list, psdp.NewAttribute("rtpmap", strconv.Itoa(int(c))+" "+c.String()+"/8000"))
	}
	if p.noise {
		list = append(list, psdp.NewAttribute("rtpmap", noiseType+" CN/8000"))
	}
	if p.events != 0 {
		pt := strconv.Itoa(int(p.events))
		list = append(list, psdp.NewAttribute("rtpmap", pt+" telephone-event/8000"), psdp.NewAttribute("fmtp", pt+" 0-15"))
	}
	return list
}
