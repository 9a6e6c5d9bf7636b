package wire

import (
	"fmt"
	"maps"
	"net/textproto"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// CallHeaders are those of a telephone call that programs of either side use: X- headers, and User-to-User (RFC 7433).
type CallHeaders map[string]string

// Bounds of CallHeaders; of names and values in bytes.
const (
	MaxHeaders     = 20
	MaxHeaderName  = 64
	MaxHeaderValue = 512
	maxHeaderBytes = 4096 // of all names and values
)

// userToUser is the name as RFC 7433 writes it.
const userToUser = "User-to-User"

// HeaderName is a name as calls keep it: each word with one capital; false: calls carry no such header.
func HeaderName(name string) (string, bool) {
	if strings.EqualFold(name, userToUser) {
		return userToUser, true
	}
	name = textproto.CanonicalMIMEHeaderKey(name)
	if !strings.HasPrefix(name, "X-") || len(name) < 3 || len(name) > MaxHeaderName {
		return "", false
	}
	return name, !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// Read gives headers of a request the names that calls keep them by; nil: there are none. wrong says what is the matter
// with them; empty: nothing.
func (h CallHeaders) Read() (read CallHeaders, wrong string) {
	if len(h) > MaxHeaders {
		return nil, fmt.Sprintf("headers: %d of them, allowed are %d", len(h), MaxHeaders)
	}
	size := 0
	for _, given := range slices.Sorted(maps.Keys(h)) {
		name, ok := HeaderName(given)
		value := strings.TrimSpace(h[given])
		_, twice := read[name]
		switch {
		case !ok:
			return nil, "headers: names are X- with letters, digits and hyphens, 64 at most, and User-to-User"
		case twice:
			return nil, fmt.Sprintf("headers.%s: given twice", name)
		case len(value) > MaxHeaderValue:
			return nil, fmt.Sprintf("headers.%s: %d bytes, allowed are %d", name, len(value), MaxHeaderValue)
		case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
			return nil, fmt.Sprintf("headers.%s: not a line of text", name)
		}
		if size += len(name) + len(value); size > maxHeaderBytes {
			return nil, fmt.Sprintf("headers: more than %d bytes of names and values", maxHeaderBytes)
		}
		if read == nil {
			read = CallHeaders{}
		}
		read[name] = value
	}
	return read, ""
}

// Schema implements huma.SchemaProvider.
func (CallHeaders) Schema(r huma.Registry) *huma.Schema {
	names, size := MaxHeaders, MaxHeaderValue
	r.Map()["CallHeaders"] = &huma.Schema{Type: huma.TypeObject, MaxProperties: &names, AdditionalProperties: &huma.Schema{Type: huma.TypeString, MaxLength: &size},
		Description: "Headers of the call's INVITE that programs of either side use: X- headers, and User-to-User (RFC 7433), as text where that can be read; 20 of 512 bytes each, 4096 in all. " +
			"Of a call that comes in they are what the far end wrote: nobody vouches for them. They are deleted with the transcript.",
		Examples: []any{map[string]string{"X-Customer-Id": "42", userToUser: "Order 42"}}}
	return &huma.Schema{Ref: "#/components/schemas/CallHeaders"}
}

// CallOrigin is where a call that came in was before, as the far end says.
type CallOrigin struct {
	DivertedBy  string          `json:"diverted_by,omitempty" doc:"The telephone that has sent the call on to this number last; absent: the call came directly, or nobody says." example:"+34911234569"`
	FirstCalled string          `json:"first_called,omitempty" doc:"The number that the caller has dialled, where the call was sent on." example:"+34911234569"`
	Diversions  []CallDiversion `json:"diversions,omitempty" nullable:"false" doc:"Who has sent the call on, the last first (Diversion, RFC 5806): 16 at most."`
	History     []CallStation   `json:"history,omitempty" nullable:"false" doc:"Where the call was sent to, in order (History-Info, RFC 7044): 16 at most."`
	OrigID      string          `json:"orig_id,omitempty" doc:"Identifies where the call entered the network of the carrier that attests the caller." example:"123e4567-e89b-12d3-a456-426655440000"`
}

// CallDiversion is a telephone that has sent a call on.
type CallDiversion struct {
	Number string `json:"number" doc:"Its number; empty: it is private." example:"+34911234569"`
	Name   string `json:"name,omitempty" doc:"Its name." example:"Reception"`
	Reason string `json:"reason,omitempty" doc:"Why, as the far end has it." example:"no-answer"`
}

// CallStation is a place that a call was sent to.
type CallStation struct {
	Index  string `json:"index" doc:"Its place in the tree of RFC 7044." example:"1.1"`
	Number string `json:"number" doc:"The number, or another user; empty: it is private." example:"+34911234569"`
	Name   string `json:"name,omitempty" doc:"Its name." example:"Reception"`
	Cause  int    `json:"cause,omitempty" doc:"The code of SIP for which the call was sent there, or went on from there." example:"302"`
}
