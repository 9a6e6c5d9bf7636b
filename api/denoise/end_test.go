package denoise

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"testing"
	"time"

	"parley/api"
	"parley/media"
	"parley/media/denoise"
	"parley/media/transcode"
	"parley/store"
)

// clip is two minutes of silence at 8 kHz whose readers fail, or do something
// else, when they come to sample at of pass number pass.
type clip struct {
	transcode.Clip // nil: what is not here is not used
	opened         int
	pass           int
	at             int
	then           func() error
}

const length = 120 * 8000

func (*clip) Rate() media.Rate        { return 8000 }
func (*clip) Samples() int64          { return length }
func (*clip) Duration() time.Duration { return 2 * time.Minute }

func (c *clip) Open() transcode.Reader {
	c.opened++
	return &reader{clip: c, pass: c.opened}
}

type reader struct {
	*clip
	pass, read int
}

func (r *reader) Read(p []int16) (int, error) {
	n := min(len(p), length-r.read)
	if n == 0 {
		return 0, io.EOF
	}
	if r.pass == r.clip.pass && r.read <= r.at && r.at < r.read+n {
		if err := r.then(); err != nil {
			return 0, err
		}
	}
	r.read += n
	return n, nil
}

// receiver is a client that takes room bytes.
type receiver struct {
	*httptest.ResponseRecorder
	room int
}

func (w *receiver) Write(p []byte) (int, error) {
	n := min(len(p), w.room)
	w.room -= n
	if n < len(p) {
		return n, errors.New("broken pipe")
	}
	return n, nil
}

// TestEnds: who pays for what, however an answer ends.
func TestEnds(t *testing.T) {
	disk := errors.New("the disk is broken")
	const ever = 1 << 40
	for _, tt := range []struct {
		name string
		room int
		pass int
		then func(cancel context.CancelCauseFunc) error
		// What the handler returns, what the books are told and how much was used.
		err, end error
		least    int64
		most     int64
	}{
		{name: "it is done", room: ever, least: 120_000, most: 120_000},
		{name: "the client hangs up at half", room: length, end: context.Canceled, least: 59_000, most: 61_000},
		{name: "the client hangs up at once", room: 0, end: context.Canceled},
		{name: "the client's request ends", room: ever, pass: 2, then: func(cancel context.CancelCauseFunc) error { cancel(nil); return nil },
			end: context.Canceled, least: 54_000, most: 65_000},
		{name: "it ends before there is an answer", room: ever, pass: 1, then: func(cancel context.CancelCauseFunc) error { cancel(nil); return nil },
			err: context.Canceled, end: context.Canceled},
		{name: "our fault before the answer", room: ever, pass: 1, then: func(context.CancelCauseFunc) error { return disk }, err: disk, end: disk},
		{name: "our fault in the answer", room: ever, pass: 2, then: func(context.CancelCauseFunc) error { return disk }, end: disk},
		{name: "the server stops", room: ever, pass: 1, then: func(cancel context.CancelCauseFunc) error {
			cancel(&media.Ended{Reason: media.APIHangup, Detail: "drain"})
			return nil
		}, err: api.ErrDraining, end: &media.Ended{}},
		{name: "the balance is used up", room: ever, pass: 1, then: func(cancel context.CancelCauseFunc) error {
			cancel(&media.Ended{Reason: media.BalanceExhausted})
			return nil
		}, err: store.ErrInsufficientBalance, end: &media.Ended{}},
		{name: "the server stops in the answer", room: ever, pass: 2, then: func(cancel context.CancelCauseFunc) error {
			cancel(&media.Ended{Reason: media.APIHangup, Detail: "drain"})
			return nil
		}, end: &media.Ended{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			c := &clip{pass: tt.pass, at: length / 2, then: func() error { return tt.then(cancel) }}
			books := account{ctx: ctx}
			w := &receiver{&httptest.ResponseRecorder{Body: &bytes.Buffer{}}, tt.room}
			rec, err := denoise.NewRecording(denoise.Spectral, c.Rate(), c.Samples())
			if err != nil {
				t.Fatal(err)
			}
			err = newHandler(&books).clean(ctx, w, api.Principal{Account: "a"}, c, rec)
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			_, stopped := tt.end.(*media.Ended)
			if _, was := errors.AsType[*media.Ended](books.err); books.ended != 1 || was != stopped || !stopped && !errors.Is(books.err, tt.end) {
				t.Errorf("%d ends with %v, want %v", books.ended, books.err, tt.end)
			}
			if books.used < tt.least || books.used > tt.most {
				t.Errorf("%d ms are charged, want %d to %d", books.used, tt.least, tt.most)
			}
		})
	}
}
