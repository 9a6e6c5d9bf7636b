package header

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"strings"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
)

// SDP is the media type of session descriptions.
const SDP = "application/sdp"

// Describe gives a message a session description.
func Describe(m gosip.Message, body []byte) {
	kind := gosip.ContentTypeHeader(SDP)
	m.AppendHeader(&kind)
	m.SetBody(body)
}

// ContentType is the media type of the body without its parameters, in lower case.
func ContentType(m interface {
	ContentType() *gosip.ContentTypeHeader
}) string {
	h := m.ContentType()
	if h == nil {
		return ""
	}
	kind, _, _ := strings.Cut(h.Value(), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// maxParts bounds the parts of a body that are looked at.
const maxParts = 8

// Unpack leaves of a multipart body the description in it (RFC 5621): carriers put a
// location, or a message of the telephone network, beside it. What has none stays as it is
// and is refused.
func Unpack(message gosip.Message) {
	m, ok := message.(interface {
		gosip.Message
		dialog.Headers
		RemoveHeader(name string) bool
	})
	if !ok {
		return
	}
	h := m.GetHeader("content-type")
	if h == nil || len(m.Body()) == 0 || !strings.HasPrefix(strings.ToLower(h.Value()), "multipart/") {
		return
	}
	_, params, err := mime.ParseMediaType(h.Value())
	if err != nil || params["boundary"] == "" {
		return
	}
	parts := multipart.NewReader(bytes.NewReader(m.Body()), params["boundary"])
	for range maxParts {
		part, err := parts.NextRawPart()
		if err != nil {
			return
		}
		kind, _, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
		if err != nil || kind != SDP || part.Header.Get("Content-Transfer-Encoding") == "base64" {
			continue
		}
		body, err := io.ReadAll(part)
		if err != nil {
			return
		}
		for m.RemoveHeader(h.Name()) { // it compares names as they are written
		}
		Describe(m, body)
		return
	}
}
