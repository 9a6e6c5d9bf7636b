package events

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

const (
	// eventWait is how many seconds the server waits for an event before it says that there is none.
	eventWait = 20
	// serverPatience is how long the server may take to answer.
	serverPatience = 2 * eventWait * time.Second
	// localPatience is how long the local address may take to answer: somebody may be stepping through its code.
	localPatience = 5 * time.Minute
	// localAnswer is how much of its answer is kept, in bytes.
	localAnswer = 1 << 10
	// shortPause follows an answer without an event that came at once, and leastPause and mostPause are between attempts to reach the server.
	shortPause = time.Second
	leastPause = time.Second
	mostPause  = 30 * time.Second
	// endPatience is for what is left to do after Ctrl-C.
	endPatience = 5 * time.Second
)

func newListenCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "listen", Short: "Get the events of webhooks on this machine",
		Long: "Posts the account's events, as they happen, to an address that only this machine can reach, just as a webhook gets them: the same\n" +
			"body, headers and signature. What comes is signed with a secret that is printed at the start, on standard error. Each event is a line\n" +
			"with the answer's status; what is not answered with 200 to 299 is not sent again unless parley webhook retry asks for it. After a lost\n" +
			"connection it goes on where it was, for up to an hour. It ends on Ctrl-C, and its webhook with it. A call that comes in asks no\n" +
			"such webhook who answers.",
		Example: "  parley listen --forward http://localhost:3000/parley\n  parley listen --forward http://localhost:3000/parley --events call.ended,call.transcript --json", Args: cobra.NoArgs}
	forward := cmd.Flags().String("forward", "", "address that gets the events")
	events := cmd.Flags().StringSlice("events", nil, "the types of events, with commas between; without it all")
	_ = cmd.MarkFlagRequired("forward") // it exists
	return server.Ask(cmd, "print one JSON object for each event", func(q *server.Request, _ []string) error {
		u, err := url.Parse(*forward)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return command.UsageError("--forward: an address such as http://localhost:3000/parley")
		}
		made, err := q.CreateWebhook(q.Ctx, wire.NewWebhook{URL: *forward, Description: "parley listen", Events: *events, Listen: true})
		if err != nil {
			return err
		}
		defer func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(q.Ctx), endPatience)
			defer cancel()
			if err := q.DeleteWebhook(ctx, made.ID); err != nil {
				fmt.Fprintf(q.ErrOrStderr(), "the webhook %s is deleted within an hour: %v\n", made.ID, err)
			}
		}()
		fmt.Fprintf(q.ErrOrStderr(), "listening\t%s\nsecret\t%s\n", made.ID, made.Secret)
		return forwardEvents(q, made.ID, *forward)
	})
}

// forwardEvents posts the events of a webhook that listens to an address, until Ctrl-C.
func forwardEvents(q *server.Request, hook, address string) error {
	local := &http.Client{Timeout: localPatience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for {
		var event *wire.TakenEvent
		asked := time.Now()
		err := insist(q, q.Ctx, func(ctx context.Context) (err error) {
			event, err = q.TakeEvent(ctx, hook, eventWait)
			return err
		})
		switch {
		case q.Ctx.Err() != nil:
			return nil // Ctrl-C
		case err != nil:
			return err
		case event == nil:
			if time.Since(asked) < shortPause && !pause(q.Ctx, shortPause) {
				return nil
			}
			continue
		}
		a := postLocally(q.Ctx, local, address, event)
		if q.Ctx.Err() != nil && a.Status == 0 {
			return nil // it was not answered
		}
		if err := showForwarded(q, event, a); err != nil {
			return err
		}
		// What was posted is reported before the next is taken, also after Ctrl-C: so nothing is posted twice.
		if err := report(q, hook, event.ID, a); err != nil {
			return err
		}
	}
}

func report(q *server.Request, hook, event string, a wire.TakenAttempt) error {
	ctx := q.Ctx
	if ctx.Err() != nil {
		return reportLast(q, hook, event, a)
	}
	err := insist(q, ctx, func(ctx context.Context) error {
		_, err := q.ReportEvent(ctx, hook, event, a)
		return err
	})
	if ctx.Err() != nil {
		return reportLast(q, hook, event, a)
	}
	return err
}

// reportLast reports an event after Ctrl-C. What is reported twice counts once.
func reportLast(q *server.Request, hook, event string, a wire.TakenAttempt) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.Ctx), endPatience)
	defer cancel()
	_, err := q.ReportEvent(ctx, hook, event, a)
	return err
}

// insist does what needs the server until it is done, the server refuses it for good, or ctx ends. The first repetition comes at once.
func insist(q *server.Request, ctx context.Context, do func(ctx context.Context) error) error {
	wait := time.Duration(0)
	for {
		err := within(ctx, do)
		if refused, is := errors.AsType[*client.Error](err); err == nil || ctx.Err() != nil || is && !refused.Retryable || errors.Is(err, server.ErrShown) {
			return err
		}
		if wait == 0 {
			fmt.Fprintf(q.ErrOrStderr(), "%v; trying again\n", err)
		}
		if !pause(ctx, wait) {
			return ctx.Err()
		}
		wait = min(max(2*wait, leastPause), mostPause)
	}
}

// within does something that ends after serverPatience, for a connection that was lost without a word says nothing any more.
func within(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, serverPatience, errSilent)
	defer cancel()
	return do(ctx)
}

// errSilent says that a server does not answer.
var errSilent = errors.New("the server does not answer")

// pause waits, and says whether ctx lasts.
func pause(ctx context.Context, wait time.Duration) bool {
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
	return ctx.Err() == nil
}

// postLocally posts an event to an address, as a webhook is sent it, and says how it went.
func postLocally(ctx context.Context, local *http.Client, address string, event *wire.TakenEvent) (a wire.TakenAttempt) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(event.Body))
	if err != nil {
		return wire.TakenAttempt{Error: clipped(err.Error(), 200)}
	}
	for name, value := range event.Headers {
		r.Header.Set(name, value)
	}
	begun := time.Now()
	answer, err := local.Do(r)
	a.LatencyMS = time.Since(begun).Milliseconds()
	if err != nil {
		if u, is := errors.AsType[*url.Error](err); is {
			err = u.Err // without the address
		}
		a.Error = clipped(err.Error(), 200)
		return a
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, localAnswer)) // what there is of it: the status decides
	a.Status, a.Answer = answer.StatusCode, clipped(string(text), localAnswer)
	return a
}

// clipped is a text that JSON and databases can hold, of at most so many characters.
func clipped(text string, most int) string {
	runes := []rune(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD"))
	return string(runes[:min(len(runes), most)])
}

// showForwarded prints an event with the answer of the local address.
func showForwarded(q *server.Request, event *wire.TakenEvent, a wire.TakenAttempt) error {
	if q.JSON {
		return command.Encode(q.OutOrStdout(), struct {
			ID   string `json:"id"`
			Type string `json:"type"`
			wire.TakenAttempt
		}{event.ID, event.Type, a})
	}
	outcome := fmt.Sprint(a.Status)
	if a.Status == 0 {
		outcome = a.Error
	}
	_, err := fmt.Fprintf(q.OutOrStdout(), "%s  %s  %s  %s after %d ms\n", time.Now().Format(time.TimeOnly), event.ID, event.Type, outcome, a.LatencyMS)
	return err
}
