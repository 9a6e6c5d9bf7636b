package mediastream

import (
	"crypto/hmac"
	"crypto/sha1" // the carrier's
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"

	"parley/media"
	"parley/media/g711"
)

// twilio is Twilio's: a webhook of a number that answers with TwiML, and Media Streams both ways.
type twilio struct{}

// twilioEvents are at https://www.twilio.com/docs/voice/media-streams/websocket-messages.
var twilioEvents = events{stream: "streamSid", call: "callSid", format: "mediaFormat"}

func (twilio) rate() media.Rate      { return media.Rate8k }
func (twilio) read(b []byte) message { return twilioEvents.read(b) }
func (twilio) document() string      { return "text/xml; charset=utf-8" }

func (twilio) format(name string) (c g711.Codec, ok bool) { return g711.PCMU, name == "audio/x-mulaw" }

func (twilio) sound(dst []byte, stream string, samples []int16) (b []byte, text bool) {
	return twilioEvents.sound(dst, stream, samples)
}

func (twilio) mark(dst []byte, stream string, number uint64) []byte {
	return twilioEvents.mark(dst, stream, number)
}
func (twilio) clear(dst []byte, stream string) []byte { return twilioEvents.clear(dst, stream) }

// ask checks X-Twilio-Signature, by which the auth token signs the address and the sorted form
// (https://www.twilio.com/docs/usage/security).
func (twilio) ask(q *question) (*Asked, error) {
	form, err := url.ParseQuery(string(q.body))
	if err != nil {
		return nil, errSignature
	}
	var signed strings.Builder
	for _, name := range slices.Sorted(maps.Keys(form)) {
		for _, value := range form[name] {
			signed.WriteString(name + value)
		}
	}
	signature, err := base64.StdEncoding.DecodeString(q.header.Get("X-Twilio-Signature"))
	if err != nil || !slices.ContainsFunc(q.addresses, func(address string) bool {
		mac := hmac.New(sha1.New, []byte(q.secret))
		mac.Write([]byte(address + signed.String()))
		return hmac.Equal(mac.Sum(nil), signature)
	}) {
		return nil, errSignature
	}
	from := number(form.Get("From"))
	if slices.Contains(twilioNobody, from) {
		from = ""
	}
	return &Asked{ID: form.Get("CallSid"), From: from, To: number(form.Get("To")), Name: form.Get("CallerName"), Verstat: form.Get("StirVerstat")}, nil
}

// twilioNobody are what stands for callers without a number: ANONYMOUS, RESTRICTED, BLOCKED, UNKNOWN and UNAVAILABLE on a keypad.
var twilioNobody = []string{"+266696687", "+7378742833", "+2562533", "+8656696", "+86282452253"}

func (twilio) connect(socket string, _ *Asked) string {
	return response(`<Connect><Stream url="` + quoted(socket) + `"/></Connect>`)
}

func (twilio) refuse(busy bool) string { return refusal(busy) }

func (twilio) redirect(number string, _ *Asked) string {
	return response("<Dial>" + quoted(number) + "</Dial>")
}
