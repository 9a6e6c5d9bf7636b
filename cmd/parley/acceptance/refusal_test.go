package acceptance

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"math/rand"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/media"
)

// refusedSocket connects and must get one error frame with code, then a close.
func refusedSocket(t *testing.T, s *server, key, agent, code string, closing int) {
	t.Helper()
	c := connect(t, s, key, agent)
	if f := c.await("an error", func(f frame) bool { return f.Type == "error" }); f.code() != code {
		t.Errorf("got %s, want %s", f.Data, code)
	}
	if got, why := c.awaitClose(); got != closing || why == "" {
		t.Errorf("%s: closed with %d %q, want %d", code, got, why, closing)
	}
	for _, f := range c.since(time.Time{}) {
		if f.status("prompt_set") || f.audio != nil {
			t.Errorf("%s: a conversation began\n%s", code, c.story())
		}
	}
	c.hangUp()
}

// refusedUpgrade asks for an agent socket and must get status with code as JSON.
func refusedUpgrade(t *testing.T, s *server, query string, header http.Header, status int, code string) {
	t.Helper()
	conn, resp, err := websocket.DefaultDialer.Dial(agentURL(s, "ag_x")+query, header)
	if err == nil {
		conn.Close()
		t.Fatal("the upgrade was not refused")
	}
	if resp == nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	var problem struct {
		Code, Error string
		Retryable   *bool
	}
	if err := json.Unmarshal(body, &problem); err != nil || resp.StatusCode != status || problem.Code != code || problem.Error == "" || problem.Retryable == nil {
		t.Errorf("%d %s, want %d %s", resp.StatusCode, body, status, code)
	}
	if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		t.Errorf("the refusal is %s", kind)
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	refusedUpgrade(t, s, "", nil, 401, "auth.missing_key")
	refusedUpgrade(t, s, "", http.Header{"X-Api-Key": {"sk_wrong"}}, 401, "auth.invalid_key")
	refusedUpgrade(t, s, "&api_key=sk_wrong", nil, 401, "auth.invalid_key")
	// The first credential present decides.
	refusedUpgrade(t, s, "&api_key="+s.guide.key, http.Header{"Authorization": {"Basic c2tfOng="}, "X-Api-Key": {s.guide.key}}, 401, "auth.invalid_key")
	who := newCustomer(t, s, "")
	var key struct {
		ID     string
		APIKey string `json:"api_key"`
	}
	admin(t, s.dir, &key, "key", "create", "--account", who.account, "--name", "second")
	c := connect(t, s, key.APIKey, who.agent)
	c.awaitStatus("prompt_set")
	c.hangUp()
	admin(t, s.dir, &struct{}{}, "key", "revoke", "--account", who.account, key.ID)
	refusedUpgrade(t, s, "", http.Header{"Authorization": {"Bearer " + key.APIKey}}, 401, "auth.invalid_key")
	// Somebody else's agent does not exist either.
	refusedSocket(t, s, who.key, s.guide.agent, "agent.not_found", websocket.ClosePolicyViolation)
	refusedSocket(t, s, who.key, "ag_nobody", "agent.not_found", websocket.ClosePolicyViolation)
}

// TestRefusedStarts goes through what the books and limits refuse, on both ways in.
func TestRefusedStarts(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	phone := newPhone(t)
	who := newCustomer(t, s, "")
	refused := func(code string, response int) {
		t.Helper()
		refusedSocket(t, s, who.key, who.agent, code, websocket.ClosePolicyViolation)
		if got := refusalCode(t, s, phone, who.number); got != response {
			t.Errorf("%s: the telephone gets %d, want %d", code, got, response)
		}
	}
	// Before the first top-up three may talk at once.
	var three []*talker
	for range 3 {
		c := connect(t, s, who.key, who.agent)
		c.awaitStatus("prompt_set")
		three = append(three, c)
	}
	refused("limit.concurrency", 486)
	three[0].hangUp()
	b := openBooks(t, s)
	eventually(t, "one has gone", func() bool { return b.bills(who.account)[0].State == "closed" })
	c := connect(t, s, who.key, who.agent)
	c.awaitStatus("prompt_set")
	for _, c := range append(three[1:], c) {
		c.hangUp()
	}
	b.closed(who.account, 4)

	admin(t, s.dir, &struct{}{}, "account", "set", who.account, "--suspended=true")
	refused("billing.account_disputed", 480)
	admin(t, s.dir, &struct{}{}, "account", "set", who.account, "--suspended=false")

	var credit struct{ Balance json.Number }
	admin(t, s.dir, &credit, "account", "credit", who.account, "--kind", "adjustment", "--", "-4.80")
	refused("billing.insufficient_balance", 480)

	// A topped-up account starts again.
	admin(t, s.dir, &credit, "account", "credit", who.account, "1", "--kind", "topup")
	call(t, s, phone, who.number).hangUp()
	if got := refusalCode(t, s, phone, "+34919999999"); got != 404 {
		t.Errorf("an unknown number gets %d", got)
	}
	admin(t, s.dir, &struct{}{}, "agent", "delete", "--account", who.account, who.agent)
	if got := refusalCode(t, s, phone, who.number); got != 404 {
		t.Errorf("a number without an agent gets %d", got)
	}
	refusedSocket(t, s, who.key, who.agent, "agent.not_found", websocket.ClosePolicyViolation)
	for _, x := range b.closed(who.account, 5) {
		b.checkAmount(x)
	}
	checkBooks(t, s.dir)
}

// TestBadFrames sends what no client should in the middle of a conversation,
// which goes on.
func TestBadFrames(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	who := newCustomer(t, s, "10")
	c := connect(t, s, who.key, who.agent)
	c.awaitStatus("listening")
	for _, tt := range []struct{ frame, code string }{
		{`{"type":`, "validation.invalid_request_format"},
		{`[1,2]`, "validation.invalid_request_format"},
		{`"interrupt"`, "validation.invalid_request_format"},
		{`{"type":7}`, "validation.invalid_request_format"},
		{`{"type":"text","data":{"a":1}}`, "validation.invalid_request_format"},
		{`{"type":"tools","data":"none"}`, "validation.invalid_request_format"},
		{`{"type":"voice","data":"Z9"}`, "validation.invalid_voice"},
		{`{"type":"language","data":"ko"}`, "validation.invalid_language"},
	} {
		c.send(tt.frame)
		if f := c.await("an error", func(f frame) bool { return f.Type == "error" }); f.code() != tt.code {
			t.Errorf("%s: got %s, want %s", tt.frame, f.Data, tt.code)
		}
	}
	// What is merely unknown, late or repeated.
	asked := time.Now()
	for _, frame := range []string{`{"type":"vad_speech_start"}`, `{"type":"future","data":[{}]}`, `{}`, `null`,
		`{"type":"tool_result","data":{"call_id":"call_0","result":"late"}}`, `{"type":"prompt"}`, `{"type":"played","ms":-5}`} {
		c.send(frame)
	}
	c.write(websocket.BinaryMessage, []byte{})
	c.write(websocket.BinaryMessage, []byte{1})
	c.write(websocket.BinaryMessage, make([]byte, 641)) // with the byte before it, whole samples
	c.say(question(t, micRate))
	c.awaitWords("open", "monday")
	c.awaitStatus("listening")
	errors := 0
	for _, f := range c.since(asked) {
		if f.Type == "error" {
			errors++
		}
	}
	if errors > 3 { // {} and null may be answered, and each only once
		t.Errorf("%d errors\n%s", errors, c.story())
	}
	// An odd byte shifts every sample after it: the client gets nonsense for an
	// answer or none, but the conversation is closed in good order.
	c.write(websocket.BinaryMessage, []byte{0})
	c.send(`{"type":"text","data":"` + strings.Repeat("a", 2<<20) + `"}`)
	if code, _ := c.awaitClose(); code != websocket.CloseMessageTooBig {
		t.Errorf("2 MB of JSON are closed with %d", code)
	}
	c.hangUp()
	b := openBooks(t, s)
	b.checkAmount(b.closed(who.account, 1)[0])
	checkBooks(t, s.dir)
}

// TestStrangersOnThePorts sends RTP from an address that is not the caller's, and
// noise to the SIP port, during a call.
func TestStrangersOnThePorts(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	who := newCustomer(t, s, "10")
	c := call(t, s, newPhone(t), who.number)
	c.awaitVoice("the greeting", 0, time.Second)
	target := net.UDPAddrFromAddrPort(c.leg.Stats().Latched)
	if target.Port == 0 {
		t.Fatal("the telephone does not know where the server's voice comes from")
	}
	stranger, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2)})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		inject(stranger, target, s.addrs["sip"], stop)
	}()
	mark := c.mark()
	c.say(question(t, media.Rate8k))
	c.awaitVoice("the answer", mark, time.Second)
	close(stop)
	<-done
	if err := stranger.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	var packet [2048]byte
	if n, from, err := stranger.ReadFromUDP(packet[:]); err == nil {
		t.Errorf("the stranger got %d bytes from %s", n, from)
	}
	c.hangUp()
	b := openBooks(t, s)
	x := b.closed(who.account, 1)[0]
	b.checkAmount(x)
	understood := ""
	for _, l := range b.transcript(x) {
		if l.Role == "user" {
			understood += l.Text + " "
		}
	}
	if !has(understood, "open") || !has(understood, "monday") {
		t.Errorf("the agent understood %q", understood)
	}
	if code, _ := s.get(t, "http", "/readyz"); code != http.StatusOK {
		t.Errorf("readyz says %d", code)
	}
}

// inject sends loud noise as RTP packets to a port, a stream of mu-law and one of
// A-law, and broken messages to the SIP port, until stop is closed.
func inject(from *net.UDPConn, rtp *net.UDPAddr, sip string, stop chan struct{}) {
	telephone, err := net.ResolveUDPAddr("udp", sip)
	if err != nil {
		return
	}
	noise := rand.New(rand.NewSource(1))
	packet := make([]byte, 12+160)
	packet[0] = 0x80 // RTP version 2 (RFC 3550 section 5.1)
	tick := time.NewTicker(media.FrameDuration)
	defer tick.Stop()
	for n := uint32(1); ; n++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		binary.BigEndian.PutUint16(packet[2:], uint16(n))
		binary.BigEndian.PutUint32(packet[4:], 160*n)
		for _, payloadType := range []byte{0, 8} {
			packet[1], packet[11] = payloadType, payloadType+1 // the source, too
			noise.Read(packet[12:])
			_, _ = from.WriteToUDP(packet, rtp) // a lost packet is like a sent one here
		}
		if n%10 == 0 {
			broken := []byte("INVITE sip:x SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.2;branch=\r\nContent-Length: 99999\r\n\r\n")
			noise.Read(broken[noise.Intn(len(broken)):])
			_, _ = from.WriteToUDP(broken, telephone)
		}
	}
}
