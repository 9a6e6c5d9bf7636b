// Package exchange is what passes between an engine and its vendor, as lines of JSON. The fakes of vendors replay such
// exchanges, and one with a vendor is recorded so, without what it tells of people and accounts.
package exchange

import "encoding/json"

// The two sides.
const (
	Client = "client"
	Vendor = "vendor"
)

// Line is one message, or how the connection began or ended.
type Line struct {
	From string `json:"from"` // Client or Vendor
	// MS is of audio received when it was sent; without audio, its number. In a recording of a vendor it is since the beginning.
	MS int `json:"ms"`

	Get    string          `json:"get,omitempty"`          // path and query of the handshake, or of a request
	Text   json.RawMessage `json:"text,omitempty"`         // a message, a body, or the data of an event
	Bytes  int             `json:"binary_bytes,omitempty"` // a message of audio, or a body
	Inside int             `json:"inside_bytes,omitempty"` // the same inside a text message
	Level  int             `json:"level_dbfs,omitempty"`   // of that audio, when the client sends it; 0: silence
	Empty  bool            `json:"empty,omitempty"`        // a text message of no bytes
	Plain  string          `json:"plain,omitempty"`        // a text message that is no JSON
	Close  int             `json:"close,omitempty"`        // the code of a close frame
	Status int             `json:"status,omitempty"`       // of an answer over HTTP
}
