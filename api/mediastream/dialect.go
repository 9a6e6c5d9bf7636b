package mediastream

import (
	"encoding/base64"
	"encoding/xml"
	"net/http"
	"strconv"
	"strings"
	"time"

	"parley/media"
	"parley/media/g711"
)

// dialect is how one carrier asks about calls and carries their audio. Its methods keep no slice.
type dialect interface {
	// rate is that of the audio, both ways.
	rate() media.Rate
	// read reads a text message of the carrier's; what it does not know is of no kind.
	read([]byte) message
	// format is the code of the audio that begins, as its message names it; not ok: it is another than was asked for.
	format(name string) (c g711.Codec, ok bool)
	// sound appends the message that carries 20 ms of audio on a stream, and says whether it is text.
	sound(dst []byte, stream string, samples []int16) (b []byte, text bool)
	// mark appends one after which the carrier answers when all before it was played.
	mark(dst []byte, stream string, number uint64) []byte
	// clear appends one that has the carrier drop what it has not played.
	clear(dst []byte, stream string) []byte

	// ask reads a question of the carrier's, whose address may be one of several and whose sender has the secret.
	ask(q *question) (*Asked, error)
	// left reads a question at the address after, and says whether the stream is over.
	left(q *question) (over bool, err error)
	// connect has the carrier open a socket, and ask at the address after when that is closed, refuse refuse a call, redirect call
	// a number in place of us, and over end a call after its stream.
	connect(socket, after string, a *Asked) string
	refuse(busy bool) string
	redirect(number string, a *Asked) string
	over() string
	// document is the media type of these.
	document() string
}

// dialects are the carriers that are known.
var dialects = map[string]dialect{"twilio": twilio{twilioEvents}, "telnyx": telnyx{telnyxEvents}, "vonage": vonage{}}

// question is a carrier's request.
type question struct {
	header    http.Header
	body      []byte
	addresses []string // at which it may have come in
	secret    string   // that its sender has
	now       time.Time
	vouched   bool // another server of the cluster has checked who asks
}

// Asked is what a carrier says of a call. Numbers are in E.164, where they are numbers.
type Asked struct {
	ID       string // of the call, as the carrier names it
	From, To string // From is Anonymous where the carrier does not say it
	Name     string // of the caller; empty: the carrier does not say it
	Verstat  string // whether From is the caller's (ATIS-1000074); empty: the carrier does not say
}

// Anonymous is the caller who withholds their number.
const Anonymous = "anonymous"

// number is a number as carriers write it, in E.164; other words stay.
func number(s string) string {
	s = strings.TrimSpace(s)
	if s != "" && strings.Trim(s, "0123456789") == "" {
		return "+" + s
	}
	return s
}

// kind says what a carrier's message is about.
type kind uint8

const (
	other kind = iota
	streamBegins
	sound
	key
	markPlayed
	streamEnds
)

// message is a text message of a carrier's, borrowed from its bytes.
type message struct {
	kind         kind
	call, stream []byte // of streamBegins
	text         []byte // of streamBegins, the name of its code; of key, the key; of markPlayed, the mark's number
	sound        []byte // base64
}

// events are the messages and documents that Twilio and Telnyx have in common, but for some names. A message says its kind in "event"
// and has what goes with that under the same word.
type events struct {
	streamKey string // the member that has the stream's identifier
	callKey   string // of "start", the call's identifier
	formatKey string // of "start", what describes the audio
}

func (events) rate() media.Rate { return media.Rate8k }

func (e events) read(b []byte) (m message) {
	var event, start, media, dtmf, mark, stream []byte
	for o := (object{rest: b}); o.next(); {
		switch string(o.key) {
		case "event":
			event = text(o.value)
		case "start":
			start = o.value
		case "media":
			media = o.value
		case "dtmf":
			dtmf = o.value
		case "mark":
			mark = o.value
		case e.streamKey:
			stream = text(o.value)
		}
	}
	switch string(event) {
	case "start":
		m = message{kind: streamBegins, stream: stream}
		for o := (object{rest: start}); o.next(); {
			switch string(o.key) {
			case e.callKey:
				m.call = text(o.value)
			case e.formatKey:
				m.text = member(o.value, "encoding")
			}
		}
	case "media":
		if track := member(media, "track"); len(track) == 0 || string(track) == "inbound" {
			m = message{kind: sound, sound: member(media, "payload")}
		}
	case "dtmf":
		m = message{kind: key, text: member(dtmf, "digit")}
	case "mark":
		m = message{kind: markPlayed, text: member(mark, "name")}
	case "stop":
		m.kind = streamEnds
	}
	return m
}

// begin appends the beginning of a message.
func (e events) begin(dst []byte, event, stream string) []byte {
	dst = append(append(dst, `{"event":"`...), event...)
	dst = append(append(dst, `","`...), e.streamKey...)
	return append(append(append(dst, `":"`...), stream...), '"')
}

func (e events) sound(dst []byte, stream string, samples []int16) (b []byte, text bool) {
	var codes [media.MaxFrameSamples]byte
	n := g711.PCMU.Encode(codes[:], samples)
	dst = append(e.begin(dst, "media", stream), `,"media":{"payload":"`...)
	return append(base64.StdEncoding.AppendEncode(dst, codes[:n]), `"}}`...), true
}

func (e events) mark(dst []byte, stream string, number uint64) []byte {
	dst = append(e.begin(dst, "mark", stream), `,"mark":{"name":"`...)
	return append(strconv.AppendUint(dst, number, 10), `"}}`...)
}

func (e events) clear(dst []byte, stream string) []byte {
	return append(e.begin(dst, "clear", stream), '}')
}

// response is a document of verbs, in which texts stand that are quoted.
func response(verbs string) string {
	return xml.Header + "<Response>" + verbs + "</Response>\n"
}

// quoted is a text as it stands in an attribute or between tags.
func quoted(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes all
	return b.String()
}

func (events) document() string { return "text/xml; charset=utf-8" }

// connected is a document that connects a call to a stream, and has the carrier ask at an address when we close its socket:
// then what follows the stream is carried out.
func connected(stream, after string) string {
	return response("<Connect>" + stream + "</Connect><Redirect method=\"POST\">" + quoted(after) + "</Redirect>")
}

func (events) over() string { return response("<Hangup/>") }

func (events) refuse(busy bool) string {
	if busy {
		return response(`<Reject reason="busy"/>`)
	}
	return response(`<Reject reason="rejected"/>`)
}

func (events) redirect(number string, _ *Asked) string {
	return response("<Dial>" + quoted(number) + "</Dial>")
}

// fresh says whether the time of a question is near enough to ours.
func fresh(unix int64, now time.Time) bool {
	age := now.Sub(time.Unix(unix, 0))
	return age < tolerance && age > -tolerance
}

// tolerance is how far the time of a question may be from ours.
const tolerance = 5 * time.Minute
