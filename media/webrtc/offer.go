package webrtc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pion/sdp/v3"
)

// Bounds of what a client may describe.
const (
	MaxOffer      = 64 << 10 // bytes
	maxSections   = 8
	maxCredential = 256
)

// Offer is a description that was read and can be answered.
type Offer struct {
	text       string // without candidates
	ufrag, pwd string
	// Messages says whether the client wants a data channel.
	Messages bool
}

// ParseOffer reads an offer. An error wraps ErrOffer.
func ParseOffer(text string) (Offer, error) {
	refuse := func(why string) (Offer, error) { return Offer{}, fmt.Errorf("%w: %s", ErrOffer, why) }
	var s sdp.SessionDescription
	if len(text) > MaxOffer {
		return refuse("it is too long")
	}
	if err := s.UnmarshalString(text); err != nil {
		return refuse("it is no session description")
	}
	if len(s.MediaDescriptions) > maxSections {
		return refuse("it has too many sections")
	}
	var o Offer
	audio := 0
	for _, m := range s.MediaDescriptions {
		switch m.MediaName.Media {
		case "audio":
			if m.MediaName.Port.Value == 0 {
				continue
			}
			if audio++; !hasOpus(m) {
				return refuse("its audio has no opus/48000/2")
			}
		case "application":
			o.Messages = m.MediaName.Port.Value != 0
		}
		m.Attributes = slices.DeleteFunc(m.Attributes, candidate)
		if len(o.ufrag) == 0 {
			o.ufrag, o.pwd = credentials(&s, m)
		}
	}
	if audio != 1 {
		return refuse("it must have one section for audio")
	}
	if o.ufrag == "" || o.pwd == "" || len(o.ufrag) > maxCredential || len(o.pwd) > maxCredential {
		return refuse("it has no ice-ufrag and ice-pwd")
	}
	s.Attributes = slices.DeleteFunc(s.Attributes, candidate)
	b, err := s.Marshal()
	if err != nil {
		return refuse("it is no session description")
	}
	o.text = string(b)
	return o, nil
}

func hasOpus(m *sdp.MediaDescription) bool {
	return slices.ContainsFunc(m.Attributes, func(a sdp.Attribute) bool {
		return a.Key == "rtpmap" && strings.HasSuffix(strings.ToLower(a.Value), " opus/48000/2")
	})
}

func credentials(s *sdp.SessionDescription, m *sdp.MediaDescription) (ufrag, pwd string) {
	value := func(key string) string {
		if v, ok := m.Attribute(key); ok {
			return v
		}
		v, _ := s.Attribute(key)
		return v
	}
	return value("ice-ufrag"), value("ice-pwd")
}

// candidate says whether an attribute is one of the client's addresses. Those are of no use:
// the client's checks come from where it can be reached, and nothing is sent to an address
// that a client only names.
func candidate(a sdp.Attribute) bool { return a.Key == "candidate" }

// Fragment is a part of a description (RFC 8840 section 9): new credentials, or candidates,
// which are not looked at.
type Fragment struct{ Ufrag, Pwd string }

// ParseFragment reads a fragment. An error wraps ErrOffer.
func ParseFragment(text string) (Fragment, error) {
	var f Fragment
	if len(text) > MaxOffer {
		return f, fmt.Errorf("%w: the fragment is too long", ErrOffer)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		key, value, ok := strings.Cut(line, "=")
		if line == "" {
			continue
		}
		if !ok || len(key) != 1 {
			return f, fmt.Errorf("%w: the fragment is no session description", ErrOffer)
		}
		if key != "a" {
			continue
		}
		name, value, _ := strings.Cut(value, ":")
		switch name {
		case "ice-ufrag":
			f.Ufrag = value
		case "ice-pwd":
			f.Pwd = value
		}
	}
	if len(f.Ufrag) > maxCredential || len(f.Pwd) > maxCredential {
		return f, fmt.Errorf("%w: the fragment is too long", ErrOffer)
	}
	return f, nil
}

// restarted is the offer with the credentials of a fragment.
func (o *Offer) restarted(f Fragment) (Offer, error) {
	var s sdp.SessionDescription
	if err := s.UnmarshalString(o.text); err != nil {
		return Offer{}, fmt.Errorf("%w: %w", ErrOffer, err)
	}
	s.Origin.SessionVersion++
	next := *o
	next.ufrag, next.pwd = f.Ufrag, f.Pwd
	s.Attributes = renewed(s.Attributes, f)
	for _, m := range s.MediaDescriptions {
		m.Attributes = renewed(m.Attributes, f)
	}
	b, err := s.Marshal()
	if err != nil {
		return Offer{}, fmt.Errorf("%w: %w", ErrOffer, err)
	}
	next.text = string(b)
	return next, nil
}

func renewed(list []sdp.Attribute, f Fragment) []sdp.Attribute {
	kept := list[:0]
	for _, a := range list {
		switch a.Key {
		case "end-of-candidates":
			continue
		case "ice-ufrag":
			a.Value = f.Ufrag
		case "ice-pwd":
			a.Value = f.Pwd
		}
		kept = append(kept, a)
	}
	return kept
}

// fragment is what an answer says of our side of ICE.
func fragment(answer string) (string, error) {
	var s sdp.SessionDescription
	if err := s.UnmarshalString(answer); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, m := range s.MediaDescriptions {
		ufrag, pwd := credentials(&s, m)
		if ufrag == "" {
			continue
		}
		mid, _ := m.Attribute("mid")
		fmt.Fprintf(&b, "a=ice-ufrag:%s\r\na=ice-pwd:%s\r\nm=%s 9 %s 0\r\na=mid:%s\r\n", ufrag, pwd, m.MediaName.Media,
			strings.Join(m.MediaName.Protos, "/"), mid)
		for _, a := range m.Attributes {
			if a.Key == "candidate" {
				fmt.Fprintf(&b, "a=candidate:%s\r\n", a.Value)
			}
		}
		b.WriteString("a=end-of-candidates\r\n")
		break
	}
	return b.String(), nil
}
