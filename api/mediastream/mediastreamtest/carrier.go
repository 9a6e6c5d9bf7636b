// Package mediastreamtest is carriers as package mediastream knows them, for tests: they ask about calls, open sockets, play what
// they are sent and answer marks. They report what the real ones refuse, and what these would not understand.
package mediastreamtest

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// Carrier is a fake of one.
type Carrier struct {
	Name   string // twilio, telnyx or vonage
	Client *http.Client
	Dialer *websocket.Dialer
	Now    func() time.Time
	// Encoding is the code in which Telnyx brings what a caller says: PCMU or PCMA.
	Encoding string
	// Forged has it sign with another secret.
	Forged bool

	t testing.TB
}

// New returns a carrier on this machine.
func New(t testing.TB, name string) *Carrier {
	return &Carrier{Name: name, Client: http.DefaultClient, Dialer: websocket.DefaultDialer, Now: time.Now, Encoding: "PCMU", t: t}
}

// Names are the carriers that there are.
var Names = []string{"twilio", "telnyx", "vonage"}

const secret = "0123456789abcdef0123456789abcdef"

// Secret is what a trunk has by which this carrier's questions are checked.
func (c *Carrier) Secret() string {
	if c.Name == "telnyx" {
		return base64.StdEncoding.EncodeToString(ed25519.NewKeyFromSeed([]byte(secret)).Public().(ed25519.PublicKey))
	}
	return secret
}

// Answer is what a document says.
type Answer struct {
	Status   int    // of the answer; the rest is for 200
	Socket   string // to which the call goes; empty: nowhere
	Busy     bool   // it is refused because lines are busy
	Refused  bool
	Number   string // that is called in place
	Over     bool   // the call ends
	call, to string
	next     string // where it asks when its socket is closed
}

// Ask asks at an address about a call.
func (c *Carrier) Ask(address, call, from, to string) Answer {
	c.t.Helper()
	fields := map[string]string{"CallSid": call, "From": from, "To": to, "AccountSid": "AC0", "CallStatus": "ringing"}
	switch c.Name {
	case "twilio":
		fields["StirVerstat"] = "TN-Validation-Passed-A"
	case "vonage":
		fields = map[string]string{"from": strings.TrimPrefix(from, "+"), "to": strings.TrimPrefix(to, "+"), "uuid": call, "conversation_uuid": "CON-" + call}
	}
	return c.asks(address, fields, Answer{call: call, to: to})
}

// Next asks what comes next when the server has closed the socket of an answer.
func (c *Carrier) Next(a Answer) Answer {
	c.t.Helper()
	return c.Event(a, "disconnected")
}

// Event is Next where Vonage says a status of the socket.
func (c *Carrier) Event(a Answer, status string) Answer {
	c.t.Helper()
	fields := map[string]string{"CallSid": a.call, "AccountSid": "AC0", "CallStatus": "in-progress"}
	if c.Name == "vonage" {
		fields = map[string]string{"from": strings.TrimPrefix(a.to, "+"), "to": a.Socket, "uuid": "leg of " + a.call, "conversation_uuid": "CON-" + a.call, "status": status}
	}
	return c.asks(a.next, fields, Answer{call: a.call, to: a.to})
}

// asks sends a question and reads the answer into a.
func (c *Carrier) asks(address string, fields map[string]string, a Answer) Answer {
	c.t.Helper()
	resp, err := c.Client.Do(c.question(address, fields))
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if a.Status = resp.StatusCode; a.Status != http.StatusOK {
		return a
	}
	kind := resp.Header.Get("Content-Type")
	switch {
	case c.Name != "vonage":
		c.verbs(&a, kind, body)
	case len(body) == 0:
		a.Over = true // nothing follows the socket
	default:
		c.ncco(&a, kind, body)
	}
	return a
}

// question is the request.
func (c *Carrier) question(address string, fields map[string]string) *http.Request {
	key := []byte(secret)
	if c.Forged {
		key = []byte(strings.ToUpper(secret))
	}
	if c.Name == "vonage" {
		body, _ := json.Marshal(fields)
		r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(string(body)))
		if err != nil {
			c.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		sum := sha256.Sum256(body)
		claims, _ := json.Marshal(map[string]any{"iss": "Vonage", "iat": c.Now().Unix(), "jti": "1", "payload_hash": hex.EncodeToString(sum[:]), "api_key": "abcd1234"})
		token := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString(claims)
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(token))
		r.Header.Set("Authorization", "Bearer "+token+"."+base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
		return r
	}
	form := url.Values{}
	for name, value := range fields {
		form.Set(name, value)
	}
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if c.Name == "telnyx" {
		stamp := strconv.FormatInt(c.Now().Unix(), 10)
		r.Header.Set("telnyx-timestamp", stamp)
		r.Header.Set("telnyx-signature-ed25519", base64.StdEncoding.EncodeToString(ed25519.Sign(ed25519.NewKeyFromSeed(key), []byte(stamp+"|"+form.Encode()))))
		return r
	}
	signed := address
	for _, name := range slices.Sorted(maps.Keys(form)) {
		signed += name + form.Get(name)
	}
	mac := hmac.New(sha1.New, key)
	mac.Write([]byte(signed))
	r.Header.Set("X-Twilio-Signature", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return r
}

// verbs reads TwiML or TeXML.
func (c *Carrier) verbs(a *Answer, kind string, body []byte) {
	c.t.Helper()
	var doc struct {
		XMLName xml.Name `xml:"Response"`
		Connect *struct {
			Stream struct {
				Attrs []xml.Attr `xml:",any,attr"`
			}
		}
		Reject *struct {
			Reason string `xml:"reason,attr"`
		}
		Redirect *struct {
			Method string `xml:"method,attr"`
			To     string `xml:",chardata"`
		}
		Dial   string
		Hangup *struct{}
		Rest   []struct{} `xml:",any"`
	}
	if err := xml.Unmarshal(body, &doc); err != nil || !strings.HasPrefix(kind, "text/xml") || len(doc.Rest) > 0 {
		c.t.Fatalf("%s does not understand %s %s: %v", c.Name, kind, body, err)
	}
	want := map[string]string{}
	if c.Name == "telnyx" { // it hears nothing otherwise
		want = map[string]string{"bidirectionalMode": "rtp", "bidirectionalCodec": "PCMU", "codec": "PCMU"}
	}
	switch {
	case doc.Connect != nil:
		for _, attr := range doc.Connect.Stream.Attrs {
			if name := attr.Name.Local; name == "url" {
				a.Socket = attr.Value
			} else if want[name] != attr.Value {
				c.t.Errorf("%s does not know %s=%q", c.Name, name, attr.Value)
			} else {
				delete(want, name)
			}
		}
		if len(want) > 0 || strings.Contains(a.Socket, "?") { // Twilio takes no queries
			c.t.Errorf("%s wants %v of a stream to %s", c.Name, want, a.Socket)
		}
		if doc.Redirect == nil || doc.Redirect.Method != http.MethodPost {
			c.t.Fatalf("%s does not know where it goes on after %s", c.Name, body)
		}
		a.next = doc.Redirect.To
	case doc.Reject != nil:
		a.Refused, a.Busy = true, doc.Reject.Reason == "busy"
		if !a.Busy && doc.Reject.Reason != "rejected" {
			c.t.Errorf("%s knows no reason %q", c.Name, doc.Reject.Reason)
		}
	case doc.Hangup != nil:
		a.Over = true
	default:
		a.Number = doc.Dial
	}
}

// ncco reads one.
func (c *Carrier) ncco(a *Answer, kind string, body []byte) {
	c.t.Helper()
	var doc []struct {
		Action, Text, From, EventType string

		EventURL []string `json:"eventUrl"`
		Endpoint []struct {
			Type, URI, Number string
			ContentType       string `json:"content-type"`
			Headers           map[string]string
		}
	}
	if err := json.Unmarshal(body, &doc); err != nil || kind != "application/json" || len(doc) != 1 {
		c.t.Fatalf("Vonage does not understand %s %s: %v", kind, body, err)
	}
	one := doc[0]
	switch {
	case one.Action == "talk" && one.Text != "":
		a.Refused, a.Busy = true, strings.Contains(one.Text, "busy")
	case one.Action == "connect" && len(one.Endpoint) == 1 && one.Endpoint[0].Type == "websocket":
		e := one.Endpoint[0]
		if e.ContentType != "audio/l16;rate=16000" || e.Headers["call"] != a.call || one.EventType != "synchronous" || len(one.EventURL) != 1 {
			c.t.Fatalf("Vonage is asked for %+v", one)
		}
		a.Socket, a.next = e.URI, one.EventURL[0]
	case one.Action == "connect" && len(one.Endpoint) == 1 && one.Endpoint[0].Type == "phone" && !strings.HasPrefix(one.Endpoint[0].Number, "+"):
		a.Number = "+" + one.Endpoint[0].Number
	default:
		c.t.Fatalf("Vonage does not understand %s", body)
	}
}

// Open opens the socket of an answer and begins the stream. status is that of a refused handshake.
func (c *Carrier) Open(a Answer) (call *Call, status int) {
	c.t.Helper()
	return c.open(a, a.call)
}

// OpenAs is Open with the stream of another call.
func (c *Carrier) OpenAs(a Answer, call string) (*Call, int) {
	c.t.Helper()
	return c.open(a, call)
}

func (c *Carrier) open(a Answer, id string) (*Call, int) {
	c.t.Helper()
	conn, resp, err := c.Dialer.Dial(a.Socket, nil)
	if err != nil {
		if resp == nil {
			c.t.Fatal(err)
		}
		return nil, resp.StatusCode
	}
	call := newCall(c, conn)
	c.t.Cleanup(call.Close)
	begin := []string{fmt.Sprintf(`{"event":"websocket:connected","content-type":"audio/l16;rate=16000","call":%q}`, id)}
	switch c.Name {
	case "twilio":
		begin = []string{`{"event":"connected","protocol":"Call","version":"1.0.0"}`,
			fmt.Sprintf(`{"event":"start","sequenceNumber":"1","start":{"accountSid":"AC0","streamSid":%q,"callSid":%q,"tracks":["inbound"],"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1},"customParameters":{}},"streamSid":%[1]q}`, stream, id)}
	case "telnyx":
		begin = []string{`{"event":"connected","version":"1.0.0"}`,
			fmt.Sprintf(`{"event":"start","sequence_number":"1","start":{"user_id":"3e6f995f","call_control_id":%q,"media_format":{"encoding":%q,"sample_rate":8000,"channels":1}},"stream_id":%q}`, id, c.Encoding, stream)}
	}
	for _, m := range begin {
		call.say(m)
	}
	return call, 0
}

// stream is the identifier of streams.
const stream = "MZ18ad3ab5a668481ce02b83e7395059f0"
