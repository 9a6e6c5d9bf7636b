package webrtc

import (
	"strings"

	pion "github.com/pion/webrtc/v4"
)

// track is the audioLeg as the library sees it: a source of packets that is bound to a
// connection.
type track audioLeg

// typesOf are the payload types of what the far end sends.
func typesOf(codecs []pion.RTPCodecParameters) *types {
	var in types
	for _, p := range codecs {
		pt := uint8(p.PayloadType)
		switch {
		case strings.EqualFold(p.MimeType, pion.MimeTypeOpus) && in.audio == 0:
			in.audio = pt
		case strings.EqualFold(p.MimeType, mimeEvents) && p.ClockRate == 8000:
			in.keys8k = pt
		case strings.EqualFold(p.MimeType, mimeEvents):
			in.keys = pt
		}
	}
	return &in
}

// Bind implements webrtc.TrackLocal.
func (t *track) Bind(c pion.TrackLocalContext) (pion.RTPCodecParameters, error) {
	var chosen *pion.RTPCodecParameters
	for _, p := range c.CodecParameters() {
		if chosen == nil && strings.EqualFold(p.MimeType, t.out.mime) {
			chosen = &p
		}
	}
	if chosen == nil {
		return pion.RTPCodecParameters{}, pion.ErrUnsupportedCodec
	}
	t.out.bound.Store(&binding{writer: c.WriteStream(), ssrc: uint32(c.SSRC()), pt: uint8(chosen.PayloadType), id: c.ID()})
	return *chosen, nil
}

// Unbind implements webrtc.TrackLocal.
func (t *track) Unbind(c pion.TrackLocalContext) error {
	if b := t.out.bound.Load(); b != nil && b.id == c.ID() {
		t.out.bound.CompareAndSwap(b, nil)
	}
	return nil
}

// ID implements webrtc.TrackLocal.
func (*track) ID() string { return "voice" }

// RID implements webrtc.TrackLocal.
func (*track) RID() string { return "" }

// StreamID implements webrtc.TrackLocal.
func (*track) StreamID() string { return "agent" }

// Kind implements webrtc.TrackLocal.
func (*track) Kind() pion.RTPCodecType { return pion.RTPCodecTypeAudio }
