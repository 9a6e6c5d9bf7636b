package sip

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"strings"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
)

// maxParts bounds the parts of a body that are looked at.
const maxParts = 8

// unpack leaves of a multipart body the description in it (RFC 5621): carriers put a
// location, or a message of the telephone network, beside it. What has none stays as it is
// and is refused.
func unpack(message gosip.Message) {
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
		if err != nil || kind != sdpType || part.Header.Get("Content-Transfer-Encoding") == "base64" {
			continue
		}
		body, err := io.ReadAll(part)
		if err != nil {
			return
		}
		for m.RemoveHeader("content-type") {
		}
		describe(m, body)
		return
	}
}
