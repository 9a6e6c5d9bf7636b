package dashboard_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"parley/api"
	"parley/api/dashboard/dashboardtest"
	"parley/api/dashboard/voicetest"
	"parley/api/listenin"
	"parley/api/socket"
	"parley/media"
	"parley/media/mediatest"
	"parley/media/monitor"
	"parley/store"
	"parley/store/history"
	"parley/store/people"
)

// floor is the call that lasts, as people who take part in it see it.
type floor struct {
	*exchange
	heard *monitor.Monitor
	voice chan []int16 // of who speaks in the agent's place
	done  chan string  // beside that
}

// Listen implements listenin.Calls.
func (f *floor) Listen(_ context.Context, account, call string) (*monitor.Listener, error) {
	if account != f.Account || call != f.lasts {
		return nil, store.ErrNotFound
	}
	return f.heard.Join()
}

// Conversation implements listenin.Calls.
func (f *floor) Conversation(string, string) listenin.Conversation { return f }

// Owner implements listenin.Calls.
func (f *floor) Owner(context.Context, string, string) int64 { return 0 }

// StepIn implements listenin.Conversation.
func (f *floor) StepIn(context.Context, string, media.Rate) (listenin.Supervisor, error) {
	return f, nil
}

// Coach implements listenin.Conversation.
func (f *floor) Coach(context.Context, string, media.Rate) (listenin.Supervisor, error) {
	f.done <- "coach"
	return f, nil
}

// Listens implements listenin.Conversation.
func (f *floor) Listens(int) {}

// Whisper implements listenin.Conversation.
func (f *floor) Whisper(text string) { f.done <- text }

// Say implements listenin.Supervisor.
func (f *floor) Say(samples []int16) {
	select {
	case f.voice <- slices.Clone(samples):
	default:
	}
}

// StepOut implements listenin.Supervisor.
func (f *floor) StepOut() { f.done <- "" }

func newFloor(t *testing.T) *floor {
	f := &floor{exchange: &exchange{}, heard: monitor.New(nil), voice: make(chan []int16, 100), done: make(chan string, 10)}
	dir, sockets := t.TempDir(), socket.NewSet()
	f.Site = dashboardtest.NewSite(t, dashboardtest.Options{Mount: func(s *dashboardtest.Site, a *api.API) {
		f.mount(dir)(s, a)
		listenin.Mount(a, &listenin.Handler{Calls: f, Notes: history.New(s.DB), Sockets: sockets, Log: slog.New(slog.DiscardHandler)})
	}})
	f.SignIn()
	f.fill(dir)
	f.heard.Begin(media.Format{In: media.Rate8k, Out: media.Rate8k, Continuous: true})
	return f
}

// TestTakePart: who may not, sees nothing of it; an owner lets people, in the page of people; who may speak listens, whispers, takes the
// call over with the microphone and gives it back, and speaks to a colleague.
func TestTakePart(t *testing.T) {
	f := newFloor(t)
	f.OK(people.New(f.DB).LetListen(t.Context(), f.Account, f.User, false))
	at := "/app/calls/" + f.lasts
	if a := f.Get(at); strings.Contains(a.Body, `id="part"`) {
		t.Error("who may not listen is offered it")
	}
	b := f.Tab(voicetest.Microphone(t, mediatest.Tone(500, media.Rate48k, 2*48000, 0.5))...)
	b.Go("/app/people")
	b.Wait(`(document.querySelector("select[name=part]").value = "speak") === "speak"`)
	b.Click(`button[aria-label^="Save what"]`)
	b.Says("What they may do in calls was changed.")
	b.Accessible()
	b.Shot("people")

	b.Go(at)
	b.Accessible()
	b.Wait(`document.getElementById("take-over").disabled`)
	b.Click("#listen")
	b.Says("You hear the call.")
	b.Shot("listening")
	b.Fill("#whisper input", "Offer ten percent.")
	b.Click("#whisper button")
	b.Says("It was passed on.")
	if text := <-f.done; text != "Offer ten percent." {
		t.Errorf("the agent knows %q", text)
	}
	b.Click("#take-over")
	b.Says("The caller hears you.")
	b.Accessible()
	for loud := 0; loud < 10; {
		if frame := <-f.voice; len(frame) != 160 {
			t.Fatalf("a frame of %d samples", len(frame))
		} else if slices.Max(frame) > 1000 {
			loud++
		}
	}
	b.Click("#take-over")
	b.Says("The agent has the call back.")
	if text := <-f.done; text != "" {
		t.Errorf("%q is done in place of stepping out", text)
	}
	b.Click("#coach")
	b.Says("Your colleague alone hears you.")
	b.Wait(`document.getElementById("take-over").disabled`)
	if text := <-f.done; text != "coach" {
		t.Errorf("%q is done in place of coaching", text)
	}
	b.Click("#coach")
	b.Says("Your colleague does not hear you any more.")
	if text := <-f.done; text != "" {
		t.Errorf("%q is done in place of falling silent", text)
	}
	b.Click("#listen")
	b.Wait(`document.getElementById("listen").textContent === "Listen" && document.getElementById("take-over").disabled`)
	b.Go(at)
	b.Says("Spoke")
}
