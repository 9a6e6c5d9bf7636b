package mediastream

import (
	"crypto/hmac"
	"crypto/sha1" // the carrier's
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"

	"parley/media/g711"
)

// twilio is Twilio's: a webhook of a number that answers with TwiML, and Media Streams both ways.
type twilio struct{ events }

// twilioEvents are at https://www.twilio.com/docs/voice/media-streams/websocket-messages.
var twilioEvents = events{streamKey: "streamSid", callKey: "callSid", formatKey: "mediaFormat"}

func (twilio) format(name string) (c g711.Codec, ok bool) { return g711.PCMU, name == "audio/x-mulaw" }

// form checks X-Twilio-Signature, by which the auth token signs the address and the sorted form
// (https://www.twilio.com/docs/usage/security).
func (twilio) form(q *question) (url.Values, error) {
	form, err := url.ParseQuery(string(q.body))
	if err != nil {
		return nil, errSignature
	}
	if q.vouched {
		return form, nil
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
	return form, nil
}

func (t twilio) left(q *question) (over bool, err error) {
	_, err = t.form(q)
	return true, err
}

func (t twilio) ask(q *question) (*Asked, error) {
	form, err := t.form(q)
	if err != nil {
		return nil, err
	}
	from := number(form.Get("From"))
	if slices.Contains(twilioNobody, from) {
		from = ""
	}
	return &Asked{ID: form.Get("CallSid"), From: from, To: number(form.Get("To")), Name: form.Get("CallerName"), Verstat: form.Get("StirVerstat")}, nil
}

// twilioNobody are what stands for callers without a number: ANONYMOUS, RESTRICTED, BLOCKED, UNKNOWN and UNAVAILABLE on a keypad.
var twilioNobody = []string{"+266696687", "+7378742833", "+2562533", "+8656696", "+86282452253"}

// connect: what follows <Connect> is carried out when our server closes the socket (https://www.twilio.com/docs/voice/twiml/stream).
func (twilio) connect(socket, after string, _ *Asked) string {
	return connected(`<Stream url="`+quoted(socket)+`"/>`, after)
}
