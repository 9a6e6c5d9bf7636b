package mediastream

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"parley/media"
	"parley/media/g711"
)

// vonage is Vonage's: an application of the Voice API that answers with an NCCO, and a WebSocket as an endpoint of the call
// (https://developer.vonage.com/en/voice/voice-api/guides/websockets).
type vonage struct{}

// vonageType is the audio that is asked for: linear, 16 bits, in binary messages of 20 ms.
const vonageType = "audio/l16;rate=16000"

func (vonage) rate() media.Rate { return media.Rate16k }
func (vonage) document() string { return "application/json" }

func (vonage) format(name string) (c g711.Codec, ok bool) { return c, name == vonageType }

func (vonage) read(b []byte) (m message) {
	var payload []byte
	for o := (object{rest: b}); o.next(); {
		switch string(o.key) {
		case "event":
			switch string(text(o.value)) {
			case "websocket:connected":
				m.kind = streamBegins
			case "websocket:dtmf":
				m.kind = key
			case "websocket:notify":
				m.kind = markPlayed
			}
		case "call": // a header of ours
			m.call = text(o.value)
		case "content-type", "digit":
			m.text = text(o.value)
		case "payload":
			payload = o.value
		}
	}
	if m.kind == markPlayed {
		m.text = member(payload, "mark")
	}
	return m
}

func (vonage) sound(dst []byte, _ string, samples []int16) (b []byte, text bool) {
	return media.AppendPCM(dst, samples), false
}

func (vonage) mark(dst []byte, _ string, number uint64) []byte {
	dst = append(dst, `{"action":"notify","payload":{"mark":"`...)
	return append(strconv.AppendUint(dst, number, 10), `"}}`...)
}

func (vonage) clear(dst []byte, _ string) []byte { return append(dst, `{"action":"clear"}`...) }

// signed checks the token that signs a webhook: its signature, its time, and that it is of this body
// (https://developer.vonage.com/en/getting-started/concepts/webhooks).
func (vonage) signed(q *question) error {
	if q.vouched {
		return nil
	}
	token, _ := strings.CutPrefix(q.header.Get("Authorization"), "Bearer ")
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return errSignature
	}
	mac := hmac.New(sha256.New, []byte(q.secret))
	mac.Write([]byte(parts[0] + "." + parts[1]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !hmac.Equal(mac.Sum(nil), signature) {
		return errSignature
	}
	var head struct {
		Alg string `json:"alg"`
	}
	var claims struct {
		IssuedAt    int64  `json:"iat"`
		PayloadHash string `json:"payload_hash"`
	}
	sum := sha256.Sum256(q.body)
	if !decoded(parts[0], &head) || !decoded(parts[1], &claims) || head.Alg != "HS256" || !fresh(claims.IssuedAt, q.now) ||
		!strings.EqualFold(claims.PayloadHash, hex.EncodeToString(sum[:])) {
		return errSignature
	}
	return nil
}

// left takes an event of the socket as an endpoint of the call: it is over once it is disconnected, which the events of its
// beginning say nothing of.
func (v vonage) left(q *question) (over bool, err error) {
	if err := v.signed(q); err != nil {
		return false, err
	}
	var e struct{ Status string }
	if json.Unmarshal(q.body, &e) != nil {
		return false, errSignature
	}
	return e.Status == "disconnected", nil
}

func (v vonage) ask(q *question) (*Asked, error) {
	if err := v.signed(q); err != nil {
		return nil, err
	}
	var call struct{ UUID, From, To string }
	if json.Unmarshal(q.body, &call) != nil {
		return nil, errSignature
	}
	return &Asked{ID: call.UUID, From: number(call.From), To: number(call.To)}, nil
}

// decoded reads a part of a token.
func decoded(part string, into any) bool {
	b, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(b, into) == nil
}

// connect has the events of the endpoint sent to us, whose answer may be a document in place of this one: so it is when we close
// the socket, see the fallback options of the page on WebSockets.
func (vonage) connect(socket, after string, a *Asked) string {
	return ncco(map[string]any{"action": "connect", "from": digits(a.To), "eventType": "synchronous", "eventUrl": []string{after}, "endpoint": []any{map[string]any{
		"type": "websocket", "uri": socket, "content-type": vonageType, "headers": map[string]string{"call": a.ID},
	}}})
}

// over is no document: the one before goes on, which has nothing after the socket.
func (vonage) over() string { return "" }

// refuse has a sentence said, since there is no word that refuses a call: it ends with its document.
func (vonage) refuse(busy bool) string {
	said := "This number cannot be reached at the moment."
	if busy {
		said = "All lines are busy. Please call again later."
	}
	return ncco(map[string]any{"action": "talk", "text": said})
}

func (vonage) redirect(number string, a *Asked) string {
	return ncco(map[string]any{"action": "connect", "from": digits(a.To), "endpoint": []any{map[string]any{"type": "phone", "number": digits(number)}}})
}

// digits is a number as Vonage writes it.
func digits(number string) string { return strings.TrimPrefix(number, "+") }

// ncco is a document of one action.
func ncco(action map[string]any) string {
	b, err := json.Marshal([]any{action})
	if err != nil {
		panic(err) // texts
	}
	return string(b)
}
