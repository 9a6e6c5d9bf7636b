package mediastream

import (
	"net/url"

	"parley/media/g711"
	carrier "parley/sip/carrier/telnyx"
)

// telnyx is Telnyx's: a TeXML application, and media streaming both ways as RTP payloads.
type telnyx struct{ events }

// telnyxEvents are at https://developers.telnyx.com/docs/voice/programmable-voice/media-streaming.
var telnyxEvents = events{streamKey: "stream_id", callKey: "call_control_id", formatKey: "media_format"}

// format takes PCMA, too: where Telnyx cannot recode it carries what the call has.
func (telnyx) format(name string) (c g711.Codec, ok bool) {
	switch name {
	case "PCMU":
		return g711.PCMU, true
	case "PCMA":
		return g711.PCMA, true
	}
	return c, false
}

// form checks the signature as of all of Telnyx's webhooks.
func (telnyx) form(q *question) (url.Values, error) {
	form, err := url.ParseQuery(string(q.body))
	if err == nil && !q.vouched {
		_, err = carrier.Signed(q.secret, q.header, q.body, q.now)
	}
	if err != nil {
		return nil, errSignature
	}
	return form, nil
}

func (t telnyx) left(q *question) (over bool, err error) {
	_, err = t.form(q)
	return true, err
}

// ask: a TeXML application names a call by its call_control_id.
func (t telnyx) ask(q *question) (*Asked, error) {
	form, err := t.form(q)
	if err != nil {
		return nil, err
	}
	a := &Asked{ID: form.Get("CallSid"), From: number(form.Get("From")), To: number(form.Get("To")), Name: form.Get("CallerId")}
	if level := form.Get("ShakenStirAttestation"); form.Get("ShakenStirValidated") == "true" && level != "" {
		a.Verstat = "TN-Validation-Passed-" + level
	}
	return a, nil
}

// connect asks for PCMU both ways (https://developers.telnyx.com/docs/voice/programmable-voice/texml-verbs/stream). What follows
// <Connect> is carried out when the stream has stopped (texml-verbs/connect).
func (telnyx) connect(socket, after string, _ *Asked) string {
	return connected(`<Stream url="`+quoted(socket)+`" codec="PCMU" bidirectionalMode="rtp" bidirectionalCodec="PCMU"/>`, after)
}
