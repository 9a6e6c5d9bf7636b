package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/billing"
	"parley/media"
	"parley/media/mediatest"
)

// hours are words of which any answer about opening hours holds some.
var hours = []string{"nine", "six", "ten", "two", "morning", "evening", "open", "closed"}

// checkOpeningHours wants both lines of the conversation about opening hours.
func checkOpeningHours(t *testing.T, lines []line) {
	t.Helper()
	asked := false
	for _, l := range lines {
		switch {
		case l.Role == "user" && has(l.Text, "open") && has(l.Text, "monday"):
			asked = true
		case l.Role == "agent" && asked && has(l.Text, hours...):
			return
		}
	}
	t.Errorf("no question and answer about opening hours: %+v", lines)
}

// TestOpeningHours has the question of the README asked over a WebSocket and over
// the telephone, and answered by voice.
func TestOpeningHours(t *testing.T) {
	t.Parallel()
	s := shared(t, demonstration)
	t.Run("socket/file", func(t *testing.T) {
		t.Parallel()
		askOnSocket(t, s, question(t, micRate))
	})
	for _, voice := range []string{"rms", "awb"} {
		t.Run("socket/"+voice, func(t *testing.T) {
			t.Parallel()
			askOnSocket(t, s, speak(t, voice, "What time do you open on Monday", micRate))
		})
	}
	t.Run("phone/file", func(t *testing.T) {
		t.Parallel()
		clip, err := filepath.Abs("../../../testdata/speech/opening-hours.wav")
		if err != nil {
			t.Fatal(err)
		}
		askOnPhone(t, s, clip, "+34600000011", s.addrs["sip"])
	})
	t.Run("phone/tcp", func(t *testing.T) {
		t.Parallel()
		clip := filepath.Join(t.TempDir(), "q.wav")
		writeWAV(t, clip, speak(t, "slt", "What time do you open on Monday", media.Rate8k), media.Rate8k)
		askOnPhone(t, s, clip, "+34600000012", s.addrs["sip"]+";transport=tcp")
	})
	t.Run("baresip", func(t *testing.T) {
		t.Parallel()
		askOnBaresip(t, s)
	})
}

func askOnSocket(t *testing.T, s *server, clip []int16) {
	who := newCustomer(t, s, "10")
	c := connect(t, s, who.key, who.agent)
	began := c.awaitStatus("prompt_set").at
	c.awaitStatus("listening") // the greeting is over
	c.say(clip)
	asked := time.Now()
	said := c.awaitLine("user")
	c.awaitStatus("speaking")
	answer := c.awaitLine("agent")
	checkOpeningHours(t, []line{{Role: "user", Text: said}, {Role: "agent", Text: answer}})
	c.awaitStatus("listening")
	if v := voiced(heard(c.since(asked)), voiceRate); v < time.Second {
		t.Errorf("the answer has %s of voice", v)
	}
	c.hangUp()
	measured := time.Since(began)

	b := openBooks(t, s)
	x := b.closed(who.account, 1)[0]
	checkOpeningHours(t, b.transcript(x))
	b.checkSeconds(x, measured)
	b.checkAmount(x)
	b.checkTokens(x)
	checkBooks(t, s.dir)
}

var talked = regexp.MustCompile(`answered after (\S+), talked for ([^,]+),`)

func askOnPhone(t *testing.T, s *server, clip, from, addr string) {
	out := filepath.Join(t.TempDir(), "answer.wav")
	o := do(t, command(t.TempDir(), nil, "phone", "sip:"+s.guide.number+"@"+addr, "--in", clip, "--out", out, "--from", from))
	m := talked.FindStringSubmatch(o.errOut)
	if o.status != 0 || m == nil {
		t.Fatalf("exit status %d: %s", o.status, o.errOut)
	}
	measured, err := time.ParseDuration(m[2])
	if err != nil {
		t.Fatal(err)
	}
	checkRecording(t, out, 3*time.Second+media.Rate8k.Duration(len(readWAV(t, clip, media.Rate8k))).Duration())
	checkTelephoneCall(t, s, from, measured)
}

// checkRecording wants voice in a recording of what a caller heard, before and
// after the question's end.
func checkRecording(t *testing.T, path string, end time.Duration) {
	t.Helper()
	samples := readWAV(t, path, media.Rate8k)
	n := min(len(samples), media.FromDuration(end).Samples(media.Rate8k))
	if greeting, answer := voiced(samples[:n], media.Rate8k), voiced(samples[n:], media.Rate8k); greeting < time.Second || answer < time.Second {
		t.Errorf("of %s, %s are voice before the question's end and %s after", media.Rate8k.Duration(len(samples)).Duration(), greeting, answer)
	}
}

func checkTelephoneCall(t *testing.T, s *server, from string, measured time.Duration) {
	t.Helper()
	b := openBooks(t, s)
	x := b.closed(from, 1)[0]
	if x.Reason != "user_hangup" {
		t.Errorf("ended with %s %s", x.Reason, x.Detail)
	}
	checkOpeningHours(t, b.transcript(x))
	b.checkSeconds(x, measured)
	b.checkAmount(x)
	b.checkTokens(x)
	checkBooks(t, s.dir)
	checkWire(t, s, x.ID)
	if x.Usage[billing.LineTime] != x.Usage[billing.AgentTime] {
		t.Errorf("%d ms of line and %d of agent", x.Usage[billing.LineTime], x.Usage[billing.AgentTime])
	}
}

func askOnBaresip(t *testing.T, s *server) {
	const from = "+15550100001"
	dir := t.TempDir()
	clip := filepath.Join(dir, "q.wav")
	// The call lasts as long as the clip.
	before, after := 4*time.Second, 9*time.Second
	said := append(silence(before, media.Rate8k), question(t, media.Rate8k)...)
	writeWAV(t, clip, append(said, silence(after, media.Rate8k)...), media.Rate8k)
	phone := filepath.Join(dir, "phone")
	port := mediatest.FreePorts(t)
	if out, err := exec.Command("../../../testdata/interop/phone.sh", phone, from, strconv.Itoa(port), strconv.Itoa(port+2), clip, "call").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command("baresip", "-f", phone, "-e", "/dial sip:"+s.guide.number+"@"+s.addrs["sip"], "-t", "60")
	var words strings.Builder
	cmd.Stdout, cmd.Stderr = &words, &words
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill(); <-ended }()

	b := openBooks(t, s)
	x := b.closed(from, 1)[0]
	_ = cmd.Process.Signal(os.Interrupt) // the call is over, and so is the recording
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("baresip does not end")
	}
	checkOpeningHours(t, b.transcript(x))
	b.checkAmount(x)
	b.checkTokens(x)
	found, _ := filepath.Glob(filepath.Join(phone, "dump-*-dec.wav"))
	if len(found) != 1 {
		t.Fatalf("%d recordings\n%s", len(found), words.String())
	}
	checkRecording(t, found[0], media.Rate8k.Duration(len(said)).Duration())
}

// TestSoakWordErrors has twenty sentences said on the telephone to an agent that knows
// its business, and compares them with what it understood. It takes a minute and a half
// of talking; TestDemonstrationCalls has callers understood in every run of the suite.
func TestSoakWordErrors(t *testing.T) {
	soak(t)
	const bar = 0.10
	s := shared(t, laboratory)
	sentences := [][]string{
		{"slt", "What time do you open on Monday", "How much is the menu", "Can I book a table", "Where can I park"},
		{"rms", "Are you open on Saturday", "What is your address", "I would like to book a table for two", "What time do you close"},
		{"awb", "When do you open", "Is there parking", "Are you open on Sunday", "What does the menu of the day cost"},
		{"kal16", "Where are you", "Can I book a table for eight people", "What time do you close on Saturday", "Thank you goodbye"},
		{"slt", "Is it next to the station", "When do you close on Monday", "How much is the menu of the day", "Can I park behind the house"},
	}
	b := openBooks(t, s)
	phone := newPhone(t)
	wrong, total := 0, 0
	for i, list := range sentences { // one after the other: a busy machine is late with their packets
		from := fmt.Sprintf("+3460000010%d", i)
		clips := make([][]int16, 0, len(list))
		for _, text := range list[1:] {
			clips = append(clips, speak(t, list[0], text, media.Rate8k))
		}
		c, err := dialAs(t, s, phone, s.guide.number, from)
		if err != nil {
			t.Fatal(err)
		}
		c.awaitVoice("the greeting", 0, time.Second)
		for _, clip := range clips {
			mark := c.mark()
			c.say(clip)
			c.awaitVoice("an answer", mark, 300*time.Millisecond)
		}
		c.hangUp()
		x := b.closed(fmt.Sprintf("+3460000010%d", i), 1)[0]
		var said, understood []string
		for _, text := range list[1:] {
			said = append(said, plain(text)...)
		}
		for _, l := range b.transcript(x) {
			if l.Role == "user" {
				understood = append(understood, plain(l.Text)...)
			}
		}
		n := wordErrors(said, understood)
		if n > 0 {
			t.Logf("%s: %d wrong\n  said       %s\n  understood %s", list[0], n, strings.Join(said, " "), strings.Join(understood, " "))
		}
		wrong, total = wrong+n, total+len(said)
	}
	rate := float64(wrong) / float64(total)
	t.Logf("word errors over G.711: %d of %d, %.1f %%", wrong, total, 100*rate)
	if rate > bar {
		t.Errorf("%.1f %% of the words are wrong, at most %.0f %% may be", 100*rate, 100*bar)
	}
}

// TestBargeIn interrupts a long answer by speaking: the client is told, and hears
// nothing more of it.
func TestBargeIn(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	who := newCustomer(t, s, "10")
	c := connect(t, s, who.key, who.agent)
	c.awaitStatus("listening")
	c.say(speak(t, "slt", "Tell me a story", micRate))
	told := c.awaitStatus("speaking")
	eventually(t, "two seconds of the story", func() bool {
		return voiced(heard(c.since(told.at)), voiceRate) > 2*time.Second
	})
	c.say(speak(t, "slt", "Stop please wait", micRate))
	cut := c.awaitStatus("interrupted")
	partly := c.await("the part that was heard", func(f frame) bool { return f.Type == "transcript" && f.Role == "agent" }).text()
	if !strings.HasPrefix(story, strings.TrimRight(partly, ". …")) || len(partly) > len(story)/2 {
		t.Errorf("the transcript of the cut reply is %q", partly)
	}
	next := c.awaitStatus("speaking")
	if next.Generation <= told.Generation {
		t.Errorf("generation %d follows %d", next.Generation, told.Generation)
	}
	silent := false
	for _, f := range c.since(told.at) {
		switch {
		case f.status("interrupted") && f.at.Equal(cut.at):
			silent = true
		case f.status("speaking") && f.Generation == next.Generation:
			silent = false
		case silent && f.audio != nil:
			t.Fatalf("audio after interrupted\n%s", c.story())
		}
	}
	c.awaitStatus("listening")
	c.hangUp()
	b := openBooks(t, s)
	x := b.closed(who.account, 1)[0]
	b.checkAmount(x)
	// The story was cut while it was told, but the model had written all of it.
	if n := b.checkTokens(x); n < 2 {
		t.Errorf("%d completions", n)
	}
	checkBooks(t, s.dir)
}

// TestAgentHangsUp says goodbye to the demonstration's agent, which ends the call.
func TestAgentHangsUp(t *testing.T) {
	t.Parallel()
	s := shared(t, demonstration)
	who := newCustomer(t, s, "10")
	c := connect(t, s, who.key, who.agent)
	c.awaitStatus("listening")
	clip := speak(t, "slt", "Thank you, goodbye", micRate)
	for range 5 { // a machine that is too busy tears words: who was not understood says it again
		c.say(clip)
		said, spoke := "", false
		_, err := c.seek(func(f frame) bool {
			if f.Type == "transcript" && f.Role == "user" {
				said = f.text()
			}
			spoke = spoke || f.status("speaking")
			return spoke && f.status("listening")
		})
		if err != nil {
			break // the call is over
		}
		if strings.Contains(said, "goodbye") {
			t.Fatalf("after a goodbye the call goes on\n%s", c.story())
		}
	}
	if code, why := c.awaitClose(); code != websocket.CloseNormalClosure || why == "" {
		t.Errorf("closed with %d %q", code, why)
	}
	c.hangUp()
	b := openBooks(t, s)
	x := b.closed(who.account, 1)[0]
	if x.Reason != "agent_hangup" {
		t.Errorf("ended with %s %s", x.Reason, x.Detail)
	}
	b.checkAmount(x)
}

// TestBalanceRunsOut has a reply cost more than the account may owe: the agent
// says goodbye on both ways in, and nobody starts again.
func TestBalanceRunsOut(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	who := newCustomer(t, s, "10")
	phone := newPhone(t)
	onPhone := call(t, s, phone, who.number)
	onSocket := connect(t, s, who.key, who.agent)
	onSocket.awaitStatus("listening")
	onPhone.awaitVoice("the greeting", 0, time.Second)
	mark := onPhone.mark()
	onSocket.send(`{"type":"text","data":"ruin me"}`)
	answer := onSocket.awaitStatus("speaking")
	if code, why := onSocket.awaitClose(); code != websocket.ClosePolicyViolation || !strings.Contains(why, "balance") {
		t.Errorf("closed with %d %q", code, why)
	}
	if v := voiced(heard(onSocket.since(answer.at)), voiceRate); v < time.Second {
		t.Errorf("answer and goodbye have %s of voice", v)
	}
	select {
	case <-onPhone.over:
	case <-time.After(patience):
		t.Fatal("the telephone call does not end")
	}
	if onPhone.hears(mark) < 300*time.Millisecond {
		t.Errorf("the goodbye on the telephone has %s of voice", onPhone.hears(mark))
	}
	onSocket.hangUp()
	b := openBooks(t, s)
	for _, x := range b.closed(who.account, 2) {
		if x.Reason != "balance_exhausted" {
			t.Errorf("%s session ended with %s %s", x.Terms.Kind, x.Reason, x.Detail)
		}
		b.checkAmount(x)
	}
	refusedSocket(t, s, who.key, who.agent, "billing.insufficient_balance", websocket.ClosePolicyViolation)
	checkBooks(t, s.dir)
}

// TestTalk runs parley talk as the README shows it.
func TestTalk(t *testing.T) {
	t.Parallel()
	s := shared(t, demonstration)
	out := filepath.Join(t.TempDir(), "answer.wav")
	env := []string{"PARLEY_URL=http://" + s.addrs["http"], "PARLEY_API_KEY=" + s.guide.key}
	o := do(t, command(t.TempDir(), env, "talk", "--agent", s.guide.agent, "--in", "../../../testdata/speech/opening-hours.wav", "--out", out))
	if o.status != 0 {
		t.Fatalf("exit status %d: %s", o.status, o.errOut)
	}
	if said := o.out + o.errOut; !has(said, "monday") || !has(said, hours...) {
		t.Errorf("it prints no conversation about opening hours:\n%s", said)
	}
	if strings.Contains(o.out+o.errOut, s.guide.key) {
		t.Error("it prints the key")
	}
	if v := voiced(readWAV(t, out, media.Rate44k), media.Rate44k); v < 2*time.Second {
		t.Errorf("the recording has %s of voice", v)
	}
}
