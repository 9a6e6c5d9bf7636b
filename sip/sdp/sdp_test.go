package sdp_test

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"parley/media/codec"
	"parley/sip/sdp"
)

var here = netip.MustParseAddr("192.0.2.1")

func session() *sdp.Session { return sdp.New(sdp.Local{Addr: here, Port: 20000, ID: 42}) }

// body makes a description out of lines, with a head that most tests share.
func body(lines ...string) []byte {
	head := []string{"v=0", "o=- 1 1 IN IP4 198.51.100.7", "s=-", "c=IN IP4 198.51.100.7", "t=0 0"}
	return []byte(strings.Join(append(head, lines...), "\r\n") + "\r\n")
}

// answers are offers and what must come of them.
var answers = []struct {
	name   string
	offer  []byte
	codec  codec.Codec
	events uint8
	dir    sdp.Direction
	remote string
	rtcp   string
	has    []string // lines of the answer
	hasNot []string
}{
	{name: "offerer's order decides", offer: body("m=audio 6000 RTP/AVP 8 0 101", "a=rtpmap:101 telephone-event/8000"),
		codec: codec.PCMA, events: 101, dir: sdp.SendRecv, remote: "198.51.100.7:6000", rtcp: "198.51.100.7:6001",
		has:    []string{"m=audio 20000 RTP/AVP 8 101", "a=rtpmap:8 PCMA/8000", "a=rtpmap:101 telephone-event/8000", "a=fmtp:101 0-15", "a=ptime:20", "a=sendrecv", "c=IN IP4 192.0.2.1"},
		hasNot: []string{"a=rtcp-mux", "a=rtpmap:0 PCMU/8000"}},
	{name: "wideband", offer: body("m=audio 6000 RTP/AVP 9 0 8 101", "a=rtpmap:9 G722/8000", "a=rtpmap:101 telephone-event/8000"),
		codec: codec.G722, events: 101, dir: sdp.SendRecv, remote: "198.51.100.7:6000", rtcp: "198.51.100.7:6001",
		has:    []string{"m=audio 20000 RTP/AVP 9 101", "a=rtpmap:9 G722/8000", "a=rtpmap:101 telephone-event/8000"},
		hasNot: []string{"a=rtpmap:0 PCMU/8000"}},
	{name: "wideband by its number alone", offer: body("m=audio 6000 RTP/AVP 9"),
		codec: codec.G722, dir: sdp.SendRecv, remote: "198.51.100.7:6000", rtcp: "198.51.100.7:6001",
		has: []string{"m=audio 20000 RTP/AVP 9"}},
	{name: "wideband after what the far end prefers", offer: body("m=audio 6000 RTP/AVP 8 9"),
		codec: codec.PCMA, dir: sdp.SendRecv, remote: "198.51.100.7:6000", rtcp: "198.51.100.7:6001",
		has: []string{"m=audio 20000 RTP/AVP 8"}},
	{name: "unknown codecs are passed over", offer: body("m=audio 6000 RTP/AVP 18 3 0", "a=rtpmap:18 G729/8000"),
		codec: codec.PCMU, dir: sdp.SendRecv, remote: "198.51.100.7:6000", rtcp: "198.51.100.7:6001",
		has: []string{"m=audio 20000 RTP/AVP 0"}},
	{name: "events keep the offer's number, other clocks do not count",
		offer: body("m=audio 6000 RTP/AVP 0 96 97", "a=rtpmap:96 telephone-event/16000", "a=rtpmap:97 telephone-event/8000"),
		codec: codec.PCMU, events: 97, dir: sdp.SendRecv, remote: "198.51.100.7:6000", rtcp: "198.51.100.7:6001",
		has: []string{"m=audio 20000 RTP/AVP 0 97", "a=fmtp:97 0-15"}},
	{name: "media level address and direction win",
		offer: body("a=inactive", "m=audio 6000 RTP/AVP 0", "c=IN IP4 203.0.113.9", "a=sendonly"),
		codec: codec.PCMU, dir: sdp.RecvOnly, remote: "203.0.113.9:6000", rtcp: "203.0.113.9:6001", has: []string{"a=recvonly"}},
	{name: "session level direction", offer: body("a=recvonly", "m=audio 6000 RTP/AVP 0"),
		codec: codec.PCMU, dir: sdp.SendOnly, remote: "198.51.100.7:6000", rtcp: "198.51.100.7:6001", has: []string{"a=sendonly"}},
	{name: "inactive", offer: body("m=audio 6000 RTP/AVP 0", "a=inactive"),
		codec: codec.PCMU, dir: sdp.Inactive, remote: "198.51.100.7:6000", rtcp: "198.51.100.7:6001", has: []string{"a=inactive"}},
	{name: "null address holds", offer: body("m=audio 6000 RTP/AVP 0", "c=IN IP4 0.0.0.0"),
		codec: codec.PCMU, dir: sdp.RecvOnly, has: []string{"a=recvonly"}},
	{name: "rtcp attribute", offer: body("m=audio 6000 RTP/AVP 0", "a=rtcp:7001"),
		codec: codec.PCMU, dir: sdp.SendRecv, remote: "198.51.100.7:6000", rtcp: "198.51.100.7:7001"},
	{name: "rtcp attribute with address", offer: body("m=audio 6000 RTP/AVP 0", "a=rtcp:7001 IN IP4 203.0.113.1"),
		codec: codec.PCMU, dir: sdp.SendRecv, remote: "198.51.100.7:6000", rtcp: "203.0.113.1:7001"},
	{name: "mux when offered", offer: body("m=audio 6000 RTP/AVP 0", "a=rtcp-mux"),
		codec: codec.PCMU, dir: sdp.SendRecv, remote: "198.51.100.7:6000", rtcp: "198.51.100.7:6000", has: []string{"a=rtcp-mux"}},
	{name: "fax and video are refused in place",
		offer: body("m=image 6010 udptl t38", "a=T38FaxVersion:0", "m=audio 6000 RTP/AVP 0", "a=sendrecv", "m=video 6020 RTP/AVP 96", "a=rtpmap:96 H264/90000"),
		codec: codec.PCMU, dir: sdp.SendRecv, remote: "198.51.100.7:6000", rtcp: "198.51.100.7:6001",
		has: []string{"m=image 0 udptl t38", "m=video 0 RTP/AVP 96"}},
	{name: "plain stream beside an encrypted one",
		offer: body("m=audio 6000 RTP/SAVP 0", "a=crypto:1 x inline:y", "m=audio 6002 RTP/AVP 8"),
		codec: codec.PCMA, dir: sdp.SendRecv, remote: "198.51.100.7:6002", rtcp: "198.51.100.7:6003",
		has: []string{"m=audio 0 RTP/SAVP 0", "m=audio 20000 RTP/AVP 8"}},
	{name: "odd carriers: no t=, no s=, own bandwidth, bare LF",
		offer: []byte("v=0\no=x 99999999999999999999999999 1 IN IP4 h\nb=XX:1\nm=audio 6000 RTP/AVP 0\nc=IN IP4 198.51.100.7\n"),
		codec: codec.PCMU, dir: sdp.SendRecv, remote: "198.51.100.7:6000", rtcp: "198.51.100.7:6001"},
}

func TestAnswer(t *testing.T) {
	for _, c := range answers {
		t.Run(c.name, func(t *testing.T) {
			answer, m, err := session().Answer(c.offer)
			if err != nil {
				t.Fatal(err)
			}
			if m.Codec != c.codec || m.Events != c.events || m.Direction != c.dir {
				t.Errorf("got %+v", m)
			}
			if c.remote == "" && m.Remote.IsValid() || c.remote != "" && m.Remote.String() != c.remote {
				t.Errorf("remote %v, want %s", m.Remote, c.remote)
			}
			if c.rtcp != "" && m.RTCP.String() != c.rtcp {
				t.Errorf("rtcp %v, want %s", m.RTCP, c.rtcp)
			}
			lines := strings.Split(string(answer), "\r\n")
			for _, want := range c.has {
				if !contains(lines, want) {
					t.Errorf("answer lacks %q:\n%s", want, answer)
				}
			}
			for _, no := range c.hasNot {
				if contains(lines, no) {
					t.Errorf("answer has %q:\n%s", no, answer)
				}
			}
		})
	}
}

func contains(lines []string, want string) bool {
	for _, l := range lines {
		if l == want {
			return true
		}
	}
	return false
}

func TestAnswerRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		offer []byte
		want  error
	}{
		{"empty", nil, sdp.ErrMalformed},
		{"no version", []byte("o=- 1 1 IN IP4 1.2.3.4\r\nm=audio 1 RTP/AVP 0\r\n"), sdp.ErrMalformed},
		{"no media", body(), sdp.ErrNotAcceptable},
		{"short media line", body("m=audio 6000"), sdp.ErrMalformed},
		{"not a line", body("hello"), sdp.ErrMalformed},
		{"no address", []byte("v=0\r\nm=audio 6000 RTP/AVP 0\r\n"), sdp.ErrMalformed},
		{"port too high", body("m=audio 66000 RTP/AVP 0"), sdp.ErrMalformed},
		{"negative port", body("m=audio -1 RTP/AVP 0"), sdp.ErrMalformed},
		{"too long", body(strings.Repeat("a=x\r\n", 5000)), sdp.ErrMalformed},
		{"too many lines", body(strings.Repeat("m=audio 0 RTP/AVP 0\r\n", 17)), sdp.ErrMalformed},
		{"G.729 only", body("m=audio 6000 RTP/AVP 18", "a=rtpmap:18 G729/8000"), sdp.ErrNotAcceptable},
		{"payload type 0 claimed by another", body("m=audio 6000 RTP/AVP 0", "a=rtpmap:0 opus/48000/2"), sdp.ErrNotAcceptable},
		{"video only", body("m=video 6000 RTP/AVP 96"), sdp.ErrNotAcceptable},
		{"encrypted only", body("m=audio 6000 RTP/SAVP 0"), sdp.ErrNotAcceptable},
		{"stream switched off", body("m=audio 0 RTP/AVP 0"), sdp.ErrNotAcceptable},
		{"a name for an address", body("m=audio 6000 RTP/AVP 0", "c=IN IP4 media.example.com"), sdp.ErrNotAcceptable},
		{"a group", body("m=audio 6000 RTP/AVP 0", "c=IN IP4 224.2.1.1/127"), sdp.ErrNotAcceptable},
		{"a group without ttl", body("m=audio 6000 RTP/AVP 0", "c=IN IP4 224.2.1.1"), sdp.ErrNotAcceptable},
		{"everyone", body("m=audio 6000 RTP/AVP 0", "c=IN IP4 255.255.255.255"), sdp.ErrNotAcceptable},
		{"other family", body("m=audio 6000 RTP/AVP 0", "c=IN IP6 2001:db8::1"), sdp.ErrNotAcceptable},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := session()
			if _, _, err := s.Answer(c.offer); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if _, ok := s.Media(); ok {
				t.Error("a refused offer took effect")
			}
		})
	}
}

func TestReofferKeepsWhatIsInForce(t *testing.T) {
	s := session()
	first, _, err := s.Answer(body("m=audio 6000 RTP/AVP 0 8"))
	if err != nil {
		t.Fatal(err)
	}
	same, _, _ := s.Answer(body("m=audio 6000 RTP/AVP 0 8"))
	if string(first) != string(same) {
		t.Errorf("the same answer changed:\n%s\n%s", first, same)
	}
	held, m, _ := s.Answer(body("m=audio 6000 RTP/AVP 8 0", "a=sendonly"))
	if m.Codec != codec.PCMU {
		t.Error("the codec changed in mid-call though the offer still had it")
	}
	if m.Sends() || !m.Receives() {
		t.Errorf("held: %v", m.Direction)
	}
	if v := origin(t, held); v != "- 42 1 IN IP4 192.0.2.1" {
		t.Errorf("version did not rise by one: %s", v)
	}
	if _, _, err := s.Answer(body("m=audio 6000 RTP/AVP 18")); err == nil {
		t.Fatal("a call took an offer of nothing that we speak")
	}
	if now, _ := s.Media(); now != m {
		t.Errorf("a refused offer changed %+v to %+v", m, now)
	}
	if m, err := s.Accept(same); err == nil {
		t.Errorf("an answer without an offer: %+v", m)
	}
}

func origin(t *testing.T, body []byte) string {
	t.Helper()
	for l := range strings.Lines(string(body)) {
		if rest, ok := strings.CutPrefix(l, "o="); ok {
			return strings.TrimSpace(rest)
		}
	}
	t.Fatal("no origin")
	return ""
}

func TestOfferAndAccept(t *testing.T) {
	us := session()
	them := sdp.New(sdp.Local{Addr: netip.MustParseAddr("198.51.100.7"), Port: 6000, ID: 7, Codecs: []codec.Codec{codec.PCMA}})
	offer, err := us.Offer()
	if err != nil {
		t.Fatal(err)
	}
	answer, theirs, err := them.Answer(offer)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := us.Accept(answer)
	if err != nil {
		t.Fatal(err)
	}
	want := sdp.Media{Remote: netip.MustParseAddrPort("198.51.100.7:6000"), RTCP: netip.MustParseAddrPort("198.51.100.7:6001"),
		Codec: codec.PCMA, Common: codec.SetOf(codec.PCMA), Events: 101, Direction: sdp.SendRecv}
	if ours != want {
		t.Errorf("ours %+v", ours)
	}
	if theirs.Remote.String() != "192.0.2.1:20000" || theirs.Codec != codec.PCMA {
		t.Errorf("theirs %+v", theirs)
	}
	later, _ := us.Offer()
	if now, _ := us.Media(); now != want {
		t.Error("an offer took effect before its answer")
	}
	if strings.Contains(string(later), "PCMU") {
		t.Errorf("a later offer must keep to the codec in use:\n%s", later)
	}
	if ours, err = us.Accept(body("m=audio 6000 RTP/AVP 8", "a=recvonly")); err != nil || ours.Direction != sdp.SendOnly {
		t.Errorf("they do not speak: %+v %v", ours, err)
	}
	if later, _ = us.Offer(); !strings.Contains(string(later), "a=sendonly") {
		t.Errorf("a later offer must keep the directions:\n%s", later)
	}
}

func TestRefusedLinesStayInLaterOffers(t *testing.T) {
	s := session()
	if _, _, err := s.Answer(body("m=video 6020 RTP/AVP 96", "m=audio 6000 RTP/AVP 0")); err != nil {
		t.Fatal(err)
	}
	offer, err := s.Offer()
	if err != nil {
		t.Fatal(err)
	}
	var media []string
	for l := range strings.Lines(string(offer)) {
		if strings.HasPrefix(l, "m=") {
			media = append(media, strings.TrimSpace(l))
		}
	}
	if len(media) != 2 || media[0] != "m=video 0 RTP/AVP 96" || media[1] != "m=audio 20000 RTP/AVP 0" {
		t.Errorf("media lines %q", media)
	}
}

func TestDirectionReverse(t *testing.T) {
	for d, want := range map[sdp.Direction]sdp.Direction{
		sdp.SendRecv: sdp.SendRecv, sdp.SendOnly: sdp.RecvOnly, sdp.RecvOnly: sdp.SendOnly, sdp.Inactive: sdp.Inactive} {
		if got := d.Reverse(); got != want {
			t.Errorf("%v reversed is %v", d, got)
		}
	}
}

// FuzzAnswer: no text makes the negotiation panic, and what it accepts is an
// answer that our own parser takes back, with a stream in the same place.
func FuzzAnswer(f *testing.F) {
	f.Add(body("m=audio 6000 RTP/AVP 0 8 101", "a=rtpmap:101 telephone-event/8000", "a=sendonly"))
	f.Add(body("m=image 6010 udptl t38", "m=audio 6000/2 RTP/AVPF 8", "a=rtcp:7001 IN IP4 1.2.3.4", "a=rtcp-mux"))
	f.Add(body("m=audio 6000 RTP/AVP 0", "c=IN IP4 0.0.0.0"))
	f.Add([]byte("v=0\nm=audio 1 RTP/AVP 0\nc=IN IP4 1.1.1.1"))
	f.Add([]byte("v=0\r\nm=\r\n"))
	f.Fuzz(func(t *testing.T, offer []byte) {
		s := session()
		answer, m, err := s.Answer(offer)
		if err != nil {
			return
		}
		back := sdp.New(sdp.Local{Addr: netip.MustParseAddr("198.51.100.7"), Port: 6000, ID: 1})
		if _, _, err := back.Answer(answer); err != nil {
			t.Fatalf("%v in our own answer to %q:\n%s", err, offer, answer)
		}
		if m.Sends() && m.Remote.Port() == 0 {
			t.Fatalf("%+v", m)
		}
		if _, err := s.Offer(); err != nil {
			t.Fatal(err)
		}
		_, _ = s.Accept(offer)
	})
}

// A later offer of ours keeps the numbers in force, RTCP where it is, and its
// version while nothing changes.
func TestLaterOffersKeepWhatIsInForce(t *testing.T) {
	s := session()
	answer, _, err := s.Answer(body("m=audio 6000 RTP/AVP 8 97", "a=rtpmap:97 telephone-event/8000", "a=rtcp-mux"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Offer()
	if err != nil || string(again) != string(answer) {
		t.Errorf("%v, offered\n%s\nafter\n%s", err, again, answer)
	}
	m, err := s.Accept(body("m=audio 6000 RTP/AVP 8 97", "a=rtpmap:97 telephone-event/8000", "a=rtcp-mux"))
	if err != nil || !m.Mux || m.RTCP != m.Remote || m.Events != 97 {
		t.Errorf("%+v, %v", m, err)
	}
}

// Codecs that we are told decide in offers and answers; what the answer to our offer has first is ours.
func TestOrderOfCodecs(t *testing.T) {
	for _, c := range []struct {
		ours   []codec.Codec
		offers string // our formats
		theirs string
		want   codec.Codec
		fails  bool
	}{
		{nil, "9 0 8 101", "0 9", codec.PCMU, false},
		{nil, "9 0 8 101", "9 0", codec.G722, false},
		{[]codec.Codec{codec.G722, codec.PCMA}, "9 8 101", "0 8 9", codec.G722, false},
		{[]codec.Codec{codec.PCMA, codec.G722}, "8 9 101", "0 9 8", codec.PCMA, false},
		{[]codec.Codec{codec.PCMU, codec.PCMA}, "0 8 101", "9 8", codec.PCMA, false},
		{[]codec.Codec{codec.PCMU, codec.PCMA}, "0 8 101", "9", 0, true},
		{[]codec.Codec{codec.G722}, "9 101", "0 8", 0, true},
	} {
		fresh := func() *sdp.Session { return sdp.New(sdp.Local{Addr: here, Port: 20000, ID: 42, Codecs: c.ours}) }
		s := fresh()
		offer, err := s.Offer()
		if err != nil || !strings.Contains(string(offer), "m=audio 20000 RTP/AVP "+c.offers+"\r\n") {
			t.Errorf("%v: %v, offered\n%s", c.ours, err, offer)
		}
		theirs := body("m=audio 6000 RTP/AVP " + c.theirs)
		m, err := s.Accept(theirs)
		if first := strings.Fields(c.theirs)[0]; (err != nil) != c.fails || err == nil && slices.Contains(strings.Fields(c.offers), first) && strconv.Itoa(int(m.Codec)) != first {
			t.Errorf("%v: of the answer %s we took %v, %v", c.ours, c.theirs, m.Codec, err)
		}
		if _, m, err = fresh().Answer(theirs); (err != nil) != c.fails || err == nil && m.Codec != c.want {
			t.Errorf("%v: of the offer %s we took %v, %v", c.ours, c.theirs, m.Codec, err)
		}
	}
}

// A later offer may move the call to another codec and to another type of keys; a far end
// that asks for our offer gets all that we can.
func TestFormatsChangeInTheCall(t *testing.T) {
	s := session()
	if _, m, err := s.Answer(body("m=audio 6000 RTP/AVP 0 101", "a=rtpmap:101 telephone-event/8000")); err != nil || m.Codec != codec.PCMU || m.Common != codec.SetOf(codec.PCMU) {
		t.Fatalf("%+v, %v", m, err)
	}
	answer, m, err := s.Answer(body("m=audio 6000 RTP/AVP 8 96", "a=rtpmap:96 telephone-event/8000"))
	if err != nil || m.Codec != codec.PCMA || m.Events != 96 || !strings.Contains(string(answer), "RTP/AVP 8 96\r\n") {
		t.Errorf("%+v, %v\n%s", m, err, answer)
	}
	offer, err := s.OfferAll()
	if err != nil || !strings.Contains(string(offer), "RTP/AVP 8 9 0 96\r\n") {
		t.Errorf("%v\n%s", err, offer)
	}
	m, err = s.Accept(body("m=audio 6000 RTP/AVP 0 8 96", "a=rtpmap:96 telephone-event/8000"))
	if err != nil || m.Codec != codec.PCMA || m.Common != codec.SetOf(codec.PCMU, codec.PCMA) {
		t.Errorf("%+v, %v", m, err)
	}
	if _, m, err = s.Answer(body("m=audio 6000 RTP/AVP 9 96", "a=rtpmap:96 telephone-event/8000")); err != nil || m.Codec != codec.G722 || m.Events != 96 {
		t.Errorf("%+v, %v", m, err)
	}
	if _, m, err = s.Answer(body("m=audio 6000 RTP/AVP 0")); err != nil || m.Codec != codec.PCMU || m.Events != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	offer, err = s.OfferAll()
	if err != nil || !strings.Contains(string(offer), "RTP/AVP 0 9 8 101\r\n") {
		t.Errorf("%v\n%s", err, offer)
	}
}

// Without telephone events of ours there are none in the call, whatever the far end can.
func TestWithoutEvents(t *testing.T) {
	fresh := func() *sdp.Session { return sdp.New(sdp.Local{Addr: here, Port: 20000, ID: 42, NoEvents: true}) }
	theirs := body("m=audio 6000 RTP/AVP 0 101", "a=rtpmap:101 telephone-event/8000")
	s := fresh()
	offer, err := s.Offer()
	if err != nil || strings.Contains(string(offer), "telephone-event") || !strings.Contains(string(offer), "RTP/AVP 9 0 8\r\n") {
		t.Errorf("%v, offered\n%s", err, offer)
	}
	if m, err := s.Accept(theirs); err != nil || m.Events != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	if all, err := s.OfferAll(); err != nil || strings.Contains(string(all), "telephone-event") {
		t.Errorf("%v, offered later\n%s", err, all)
	}
	answer, m, err := fresh().Answer(theirs)
	if err != nil || m.Events != 0 || strings.Contains(string(answer), "telephone-event") {
		t.Errorf("%+v, %v, answered\n%s", m, err, answer)
	}
}

// Comfort noise is agreed on with a far end that offers it, and stays in our later offers; we do not bring it up.
func TestComfortNoise(t *testing.T) {
	for offer, want := range map[string]bool{"m=audio 6000 RTP/AVP 0 13 101": true, "m=audio 6000 RTP/AVP 9 13\r\na=rtpmap:13 CN/8000": true,
		"m=audio 6000 RTP/AVP 0 13\r\na=rtpmap:13 X/8000": false, "m=audio 6000 RTP/AVP 0 101": false} {
		s := session()
		answer, m, err := s.Answer(body(offer, "a=rtpmap:101 telephone-event/8000"))
		if err != nil || m.Noise != want || strings.Contains(string(answer), "a=rtpmap:13 CN/8000\r\n") != want {
			t.Errorf("%s: %+v, %v, answered\n%s", offer, m, err, answer)
		}
		for _, describe := range []func() ([]byte, error){s.Offer, s.OfferAll} {
			if later, err := describe(); err != nil || strings.Contains(string(later), "CN/8000") != want {
				t.Errorf("%s: %v, offered later\n%s", offer, err, later)
			}
		}
	}
	s := session()
	if offer, err := s.Offer(); err != nil || strings.Contains(string(offer), "CN/8000") {
		t.Errorf("%v, offered\n%s", err, offer)
	}
	if _, m, err := session().Answer(body("m=audio 6000 RTP/AVP 8 13 101", "a=rtpmap:101 telephone-event/8000")); err != nil || m.Codec != codec.PCMA || m.Events != 101 {
		t.Errorf("%+v, %v", m, err)
	}
}

// Telephone events under a type that looks like RTCP cost the keys, not the call.
func TestEventsThatLookLikeRTCP(t *testing.T) {
	for pt, want := range map[string]uint8{"63": 63, "64": 0, "90": 0, "95": 0, "96": 96} {
		_, m, err := session().Answer(body("m=audio 6000 RTP/AVP 0 "+pt, "a=rtpmap:"+pt+" telephone-event/8000"))
		if err != nil || m.Events != want {
			t.Errorf("type %s: %+v, %v", pt, m, err)
		}
	}
}
