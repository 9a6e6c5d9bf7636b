package speech

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

const (
	// liveStep is how much is sent at a time.
	liveStep = 100 * time.Millisecond
	// After the end of the sound the last final text is waited for: longer when
	// something was understood that is not final yet, longest when nothing was
	// understood at all, for the server may be far behind; otherwise as long as a
	// recogniser may take that has no unfinished lines. Then a little for another:
	// the one that came may have been that before the last.
	firstWait = 20 * time.Second
	finalWait = 10 * time.Second
	quietWait = 6 * time.Second
	lastWait  = 500 * time.Millisecond
)

// live is what was understood while it was spoken.
type live struct {
	Text       string   `json:"text"`
	Utterances []string `json:"utterances"`
	Seconds    float64  `json:"duration_seconds"` // of sound that was sent
}

// listen streams a recording or a microphone and shows what is understood.
func listen(q *server.Request, path, language string) error {
	ctx, stop := context.WithCancel(q.Ctx)
	defer stop()
	next, err := openSound(q.Command, path)
	if err != nil {
		return err
	}
	l, err := q.Listen(ctx, language)
	if err != nil {
		return err
	}
	defer l.Close()
	var last lastWord
	var sent float64
	var fault error
	var wg sync.WaitGroup
	wg.Go(func() {
		if sent, fault = sendPaced(ctx, l, next); fault == nil {
			last.begin(func() { l.Close() })
		} else {
			l.Close() // the reader need not wait for what never comes
		}
	})
	got := live{Utterances: []string{}}
	err = hear(q, l, &last, &got)
	if err != nil {
		stop() // the sender ends too
	}
	wg.Wait()
	if got.Seconds = thousandth(sent); err == nil {
		err = fault
	}
	if err != nil {
		return err
	}
	got.Text = strings.Join(got.Utterances, " ")
	return q.AnswerText(got, "")
}

// hear shows what comes until there is no more.
func hear(q *server.Request, l *client.Listener, last *lastWord, got *live) error {
	show := &captions{out: q.ErrOrStderr(), line: command.IsTerminal(q.ErrOrStderr()) && !q.JSON, events: q.JSON}
	for {
		h, err := l.Next()
		if errors.Is(err, io.EOF) {
			show.clear()
			return nil
		}
		if err != nil {
			show.clear()
			return err
		}
		last.heard(h.Final)
		text := strings.TrimSpace(h.Text)
		switch {
		case !h.Final:
			show.partial(text)
		case text != "":
			show.clear()
			got.Utterances = append(got.Utterances, text)
			if !q.JSON {
				fmt.Fprintln(q.OutOrStdout(), text)
			}
		}
	}
}

// captions are unfinished lines: on a terminal each takes the place of the one
// before.
type captions struct {
	out          io.Writer
	line, events bool
	width        int // characters that are there now
}

// maxCaption keeps a line on a line.
const maxCaption = 78

func (c *captions) partial(text string) {
	switch {
	case c.events:
		_ = json.NewEncoder(c.out).Encode(map[string]string{"event": "partial", "text": text}) // as good as it gets
	case c.line:
		r := []rune(text)
		if len(r) > maxCaption {
			r = append([]rune("…"), r[len(r)-maxCaption+1:]...)
		}
		c.clear()
		fmt.Fprintf(c.out, "\r%s", string(r))
		c.width = len(r)
	}
}

func (c *captions) clear() {
	if c.width > 0 {
		fmt.Fprintf(c.out, "\r%s\r", strings.Repeat(" ", c.width))
		c.width = 0
	}
}

// lastWord ends a conversation a while after the last word of it.
type lastWord struct {
	mu    sync.Mutex
	any   bool        // something was understood
	open  bool        // an unfinished line is there
	timer *time.Timer // nil: still speaking
}

func (w *lastWord) begin(end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait := quietWait
	switch {
	case !w.any:
		wait = firstWait
	case w.open:
		wait = finalWait
	}
	w.timer = time.AfterFunc(wait, end)
}

func (w *lastWord) heard(final bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.any = true
	switch w.open = !final; {
	case w.timer == nil:
	case final:
		w.timer.Reset(lastWait)
	default:
		w.timer.Reset(finalWait)
	}
}

// sendPaced sends sound no faster than it is spoken, and then that it has ended. It
// says how many seconds were sent.
func sendPaced(ctx context.Context, l *client.Listener, next func(ctx context.Context) ([]int16, error)) (sent float64, err error) {
	due := time.NewTimer(0)
	defer due.Stop()
	began, samples := time.Now(), 0
	for {
		block, err := next(ctx)
		if errors.Is(err, io.EOF) {
			return float64(samples) / client.ListenRate, l.Finish()
		}
		if err != nil {
			return 0, err
		}
		due.Reset(time.Until(began.Add(time.Duration(samples) * time.Second / client.ListenRate)))
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-due.C:
		}
		if err := l.Send(block); err != nil {
			return 0, err
		}
		samples += len(block)
	}
}

// openSound returns a function that gives the next piece of a WAV file or of
// standard input, which may also be raw samples; io.EOF after the last.
func openSound(cmd *cobra.Command, path string) (func(context.Context) ([]int16, error), error) {
	if path == "-" {
		in := bufio.NewReader(cmd.InOrStdin())
		if start, _ := in.Peek(4); string(start) != "RIFF" {
			return rawBlocks(in), nil
		}
		cmd.SetIn(in)
	}
	clip, err := readClip(cmd, path, client.ListenRate)
	if err != nil {
		return nil, err
	}
	return func(context.Context) ([]int16, error) {
		n := min(len(clip), int(liveStep.Seconds()*client.ListenRate))
		if n == 0 {
			return nil, io.EOF
		}
		block := clip[:n]
		clip = clip[n:]
		return block, nil
	}, nil
}

// rawBlocks reads samples in a goroutine of its own, which ends with the process
// when nothing comes: reading a microphone's pipe cannot be interrupted.
func rawBlocks(in io.Reader) func(context.Context) ([]int16, error) {
	blocks := make(chan []int16) // read ahead by one, the listener sets the pace
	var fault error
	go func() {
		defer close(blocks)
		for {
			raw := make([]byte, 2*int(liveStep.Seconds()*client.ListenRate))
			n, err := io.ReadFull(in, raw)
			if samples := samplesOf(raw[:n]); len(samples) > 0 {
				blocks <- samples
			}
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					fault = err
				}
				return
			}
		}
	}()
	return func(ctx context.Context) ([]int16, error) {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case block, ok := <-blocks:
			switch {
			case ok:
				return block, nil
			case fault != nil:
				return nil, fault
			}
			return nil, io.EOF
		}
	}
}
