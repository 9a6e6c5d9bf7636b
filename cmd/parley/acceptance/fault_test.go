package acceptance

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/billing"
	"parley/media"
)

// faulty is a server of the test's own, for things that would disturb others.
func faulty(t *testing.T) (*server, *model) {
	t.Helper()
	m := newModel()
	t.Cleanup(m.Close)
	return serve(t, newDataDir(t), m.env()), m
}

// TestFaultsDuringCalls kills what a call lives on, one after the other, and
// expects two callers, on a socket and on the telephone, to notice no more than a
// pause. The calls are the same ones all along.
func TestFaultsDuringCalls(t *testing.T) {
	t.Parallel()
	s, _ := faulty(t)
	who := newCustomer(t, s, "10")
	phone := newPhone(t)
	onPhone := call(t, s, phone, who.number)
	onSocket := connect(t, s, who.key, who.agent)
	onSocket.awaitStatus("listening")
	onPhone.awaitVoice("the greeting", 0, time.Second)
	f := faults{s, onSocket, onPhone}
	t.Run("recogniser", f.recogniser)
	t.Run("voice", f.voice)
	t.Run("database", f.database)
	onSocket.hangUp()
	onPhone.hangUp()
	b := openBooks(t, s)
	for _, x := range b.closed(who.account, 2) {
		if x.Reason != "user_hangup" {
			t.Errorf("%s session ended with %s %s", x.Terms.Kind, x.Reason, x.Detail)
		}
		b.checkAmount(x)
		b.checkTokens(x)
	}
	checkBooks(t, s.dir)
}

// faults are done to a server with two callers on the line.
type faults struct {
	server   *server
	onSocket *talker
	onPhone  *caller
}

// slay kills the workers of one kind.
func (f faults) slay(t *testing.T, job string) {
	t.Helper()
	pids := f.server.workers(t, job)
	if len(pids) == 0 {
		t.Fatalf("there are no %s workers", job)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
}

// answered has both callers ask, and both be understood and answered by voice.
func (f faults) answered(t *testing.T) {
	t.Helper()
	var both sync.WaitGroup
	both.Go(func() {
		mark := f.onPhone.mark()
		f.onPhone.say(question(t, media.Rate8k))
		f.onPhone.awaitVoice("the answer on the telephone", mark, time.Second)
	})
	f.onSocket.say(question(t, micRate))
	f.onSocket.awaitWords("open", "monday")
	spoke := f.onSocket.awaitStatus("speaking")
	f.onSocket.awaitStatus("listening")
	if v := voiced(heard(f.onSocket.since(spoke.at)), voiceRate); v < time.Second {
		t.Errorf("the answer on the socket has %s of voice", v)
	}
	both.Wait()
}

// recogniser dies in the middle of an utterance, which is understood all the same.
func (f faults) recogniser(t *testing.T) {
	clip, onPhone := question(t, micRate), question(t, media.Rate8k)
	mark := f.onPhone.mark()
	f.onPhone.speech.add(onPhone)
	f.onSocket.speech.add(clip) // in one piece: nobody pauses while the worker is looked for
	eventually(t, "half of it is said", func() bool { return f.onSocket.speech.remaining() <= len(clip)/2 })
	f.slay(t, "asr")
	f.onSocket.awaitWords("open", "monday")
	f.onSocket.awaitStatus("listening")
	f.onPhone.awaitVoice("the answer on the telephone", mark, time.Second)
	f.answered(t)
}

// story has both callers hear the beginning of a long answer. A machine that is too busy tears words: who was not understood, and
// has had a short answer, asks again.
func (f faults) story(t *testing.T) {
	t.Helper()
	const long = time.Second // no other answer has so much voice
	onPhone, onSocket := speak(t, "slt", "Tell me a story", media.Rate8k), speak(t, "slt", "Tell me a story", micRate)
	var both sync.WaitGroup
	defer both.Wait()
	both.Go(func() {
		begun := false
		for tries := 0; !begun && tries < 5; tries++ {
			mark := f.onPhone.mark()
			f.onPhone.say(onPhone)
			eventually(t, "an answer on the telephone", func() bool {
				begun = f.onPhone.hears(mark) > long
				return begun || f.onPhone.rested(mark)
			})
		}
		if !begun {
			t.Error("there is no story on the telephone")
		}
	})
	begun := false
	for tries := 0; !begun && tries < 5; tries++ {
		f.onSocket.say(onSocket)
		told := f.onSocket.awaitStatus("speaking")
		eventually(t, "an answer on the socket", func() bool {
			frames := f.onSocket.since(told.at)
			begun = voiced(heard(frames), voiceRate) > long
			return begun || slices.ContainsFunc(frames, func(x frame) bool { return x.status("listening") })
		})
	}
	if !begun {
		t.Error("there is no story on the socket")
	}
}

// voice dies in the middle of a long answer.
func (f faults) voice(t *testing.T) {
	mark := f.onPhone.mark()
	f.story(t)
	f.slay(t, "tts")
	// Both stop the story, whatever of it is left.
	f.onPhone.speech.add(speak(t, "slt", "Stop please wait", media.Rate8k))
	f.onSocket.say(speak(t, "slt", "Stop please wait", micRate))
	f.onSocket.awaitWords("stop")
	f.onSocket.awaitStatus("listening")
	f.onPhone.awaitVoice("silence on the telephone", mark, time.Second)
	f.answered(t)
}

// database is killed; when it is back, checkpoints go on.
func (f faults) database(t *testing.T) {
	old := f.server.postmaster()
	if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	f.answered(t)
	eventually(t, "the database is back", func() bool {
		pid := f.server.postmaster()
		code, _ := f.server.get(t, "http", "/readyz")
		return pid != 0 && pid != old && code == http.StatusOK
	})
	b := openBooks(t, f.server)
	progress := func() (sum int64) {
		for _, x := range b.live() {
			sum += x.Checkpoints
		}
		return sum
	}
	before := progress()
	eventually(t, "checkpoints go on", func() bool { return progress() >= before+4 })
}

// TestDrain sends SIGTERM during calls over a socket and over WebRTC: new ones are
// refused, these go on, and the server ends well after them.
func TestDrain(t *testing.T) {
	t.Parallel()
	s, _ := faulty(t)
	who := newCustomer(t, s, "10")
	phone := newPhone(t)
	c := connect(t, s, who.key, who.agent)
	c.awaitStatus("listening")
	page := browse(t, s, who.key, who.agent)
	page.awaitStatus("listening")
	s.signal(t, syscall.SIGTERM)
	eventually(t, "it drains", func() bool { return strings.Contains(s.text(), `"draining"`) })
	if code, body := s.get(t, "http", "/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "draining") {
		t.Errorf("readyz says %d %s", code, body)
	}
	if code, _ := s.get(t, "http", "/healthz"); code != http.StatusOK {
		t.Errorf("healthz says %d", code)
	}
	refusedSocket(t, s, who.key, who.agent, "service.unavailable", websocket.CloseGoingAway)
	if code := refusalCode(t, s, phone, who.number); code != http.StatusServiceUnavailable {
		t.Errorf("a new telephone call gets %d", code)
	}
	status, _, body := page.ask(http.MethodPost, "/webrtc/agent?agent_id="+who.agent, offered(t))
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "service.unavailable") {
		t.Errorf("a new offer gets %d %s", status, body)
	}
	for _, in := range []*talker{c, page.talker} {
		in.say(question(t, micRate))
		in.awaitWords("open", "monday")
		in.awaitStatus("speaking")
		in.awaitStatus("listening")
	}
	c.hangUp()
	page.end()
	if code := s.end(t); code != 0 {
		t.Errorf("exit status %d:\n%s", code, s.tail(30))
	}
	checkBooks(t, s.dir)
	b := reopenBooks(t, s)
	for _, x := range b.closed(who.account, 2) {
		b.checkAmount(x)
		if x.Reason != "user_hangup" {
			t.Errorf("ended with %s %s", x.Reason, x.Detail)
		}
	}
}

// TestDrainDeadline sends SIGTERM during calls that nobody ends: the agent says
// goodbye, and the server ends well.
func TestDrainDeadline(t *testing.T) {
	t.Parallel()
	m := newModel()
	t.Cleanup(m.Close)
	s := serve(t, newDataDir(t), append(m.env(), "PARLEY_DRAIN_TIMEOUT=1s"))
	who := newCustomer(t, s, "10")
	onPhone := call(t, s, newPhone(t), who.number)
	onSocket := connect(t, s, who.key, who.agent)
	onSocket.awaitStatus("listening")
	onPage := browse(t, s, who.key, who.agent)
	onPage.awaitStatus("listening")
	onPhone.awaitVoice("the greeting", 0, time.Second)
	if _, text := s.get(t, "metrics", "/metrics"); !strings.Contains(text, "\nparley_calls 3\n") {
		t.Error("the metrics do not count three calls")
	}
	mark, signalled := onPhone.mark(), time.Now()
	s.signal(t, syscall.SIGTERM)
	onSocket.awaitStatus("speaking")
	if code, why := onSocket.awaitClose(); code != websocket.CloseGoingAway || why == "" {
		t.Errorf("the socket is closed with %d %q", code, why)
	}
	onPage.await("the reason of the end", func(f frame) bool { return f.Type == "closed" })
	onPage.awaitEnd()
	if v := voiced(heard(onPage.since(signalled)), media.Rate16k); v < 300*time.Millisecond {
		t.Errorf("the page ended after %s of goodbye", v)
	}
	select {
	case <-onPhone.over:
	case <-time.After(patience):
		t.Fatal("the telephone call does not end")
	}
	if onPhone.fault != nil || onPhone.hears(mark) < 300*time.Millisecond {
		t.Errorf("the telephone call ended with %v after %s of goodbye", onPhone.fault, onPhone.hears(mark))
	}
	if code := s.end(t); code != 0 {
		t.Errorf("exit status %d:\n%s", code, s.tail(30))
	}
	checkBooks(t, s.dir)
	b := reopenBooks(t, s)
	for _, x := range b.closed(who.account, 3) {
		b.checkAmount(x)
		if x.Reason != "api_hangup" || x.Detail != "drain" {
			t.Errorf("%s session ended with %s %s", x.Terms.Kind, x.Reason, x.Detail)
		}
	}
}

// crashRounds is how often TestSoakCrashes kills the server.
const crashRounds = 10

// checkpointLoss is what a crash may lose, and a second more because the meter
// looks at its clock once a second.
const checkpointLoss = 6 * time.Second

// TestSoakCrashes kills the server under five calls, again and again: what they
// had used is charged once, up to the last checkpoint, and their places are free.
// TestKilledServers is its short form.
func TestSoakCrashes(t *testing.T) {
	soak(t)
	m := newModel()
	t.Cleanup(m.Close)
	dir := newDataDir(t)
	s := serve(t, dir, m.env(), "--demo")
	first := s.guide
	who := newCustomer(t, s, "50")
	// As many as there may be at once: a place that stays taken shows in the next round.
	admin(t, dir, &struct{}{}, "account", "set", who.account, "--concurrency", "5")
	seen := 0
	for round := range crashRounds {
		began := crash(t, s, who, round)
		s = serve(t, dir, m.env(), "--demo")
		if s.guide != first {
			t.Errorf("round %d: the demonstration is another", round)
		}
		checkCrash(t, s, who, began, seen)
		seen += len(began.clocks)
	}
	// A new call is taken and closed in good order.
	c := connect(t, s, who.key, who.agent)
	c.awaitStatus("listening")
	c.hangUp()
	b := openBooks(t, s)
	list := b.closed(who.account, seen+1)
	if last := list[seen]; last.Reason != "user_hangup" || last.Postings != 1 {
		t.Errorf("the call after the crashes: %+v", last)
	}
	checkBooks(t, dir)
	s.stop(t)
}

// struck is what a crash met.
type struck struct {
	clocks  []time.Time // when each caller was answered
	at      time.Time
	replies int // completions that were over some time before
}

// crash brings up three sockets and two telephones, has a question of one of them
// answered, and kills the server.
func crash(t *testing.T, s *server, who customer, round int) struck {
	t.Helper()
	phone := newPhone(t)
	var r struck
	var sockets []*talker
	for range 3 {
		sockets = append(sockets, connect(t, s, who.key, who.agent))
	}
	for range 2 {
		r.clocks = append(r.clocks, call(t, s, phone, who.number).answered)
	}
	for _, c := range sockets {
		r.clocks = append(r.clocks, c.awaitStatus("prompt_set").at)
	}
	for _, c := range sockets {
		c.awaitStatus("listening")
	}
	sockets[0].say(question(t, micRate))
	sockets[0].awaitLine("agent")
	r.replies = 1
	if live := len(openBooks(t, s).live()); live != len(r.clocks) {
		t.Errorf("%d sessions live, want %d", live, len(r.clocks))
	}
	// Any moment will do that is far enough from the checkpoint which the reply's
	// tokens brought about, so that the regular ones count. Each round has another.
	time.Sleep(3*time.Second + time.Duration(round%5)*time.Second)
	r.at = time.Now()
	s.kill()
	return r
}

// checkCrash looks at the books after the restart; seen is how many sessions there
// were before.
func checkCrash(t *testing.T, s *server, who customer, r struck, seen int) {
	t.Helper()
	var account struct {
		Live int `json:"live_sessions"`
	}
	admin(t, s.dir, &account, "account", "show", who.account)
	if account.Live != 0 {
		t.Errorf("%d sessions live on", account.Live)
	}
	b := openBooks(t, s)
	list := b.closed(who.account, seen+len(r.clocks))[seen:]
	var charged, least, most time.Duration
	tokens := int64(0)
	for i, x := range list {
		if x.Reason != "failed" || x.Detail != "node_lost" {
			t.Errorf("session %s ended with %s %s", x.ID, x.Reason, x.Detail)
		}
		if x.Postings != 1 {
			t.Errorf("session %s was posted %d times", x.ID, x.Postings)
		}
		b.checkAmount(x)
		charged += time.Duration(x.Usage[billing.AgentTime]) * time.Millisecond
		length := r.at.Sub(r.clocks[i])
		least += max(0, length-checkpointLoss)
		most += length + time.Second
		tokens += x.Usage[billing.ReplyOut]
	}
	// The order of the sessions is not that of the callers; their sum is the same.
	if charged < least || charged > most {
		t.Errorf("%s were charged; the calls lasted between %s and %s", charged, least, most)
	}
	if want := int64(r.replies * completionTokens); tokens < want {
		t.Errorf("%d tokens were charged, %d were used well before the crash", tokens, want)
	}
	checkBooks(t, s.dir)
	if leftovers, _ := filepath.Glob(filepath.Join(s.dir, "*.new")); len(leftovers) != 0 {
		t.Errorf("left behind: %v", leftovers)
	}
}
