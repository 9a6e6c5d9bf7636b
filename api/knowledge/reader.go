package knowledge

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"path"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/api"
	"parley/store"
	"parley/store/jobs"
	"parley/store/knowledge"
	"parley/store/knowledge/document"
)

// Fetched is what an address says.
type Fetched struct {
	Body      []byte
	MediaType string
}

// Fetch requests an address, of which it takes most bytes. Its error may be shown to the document's owner, unless ctx
// has ended.
type Fetch func(ctx context.Context, address string, most int64) (Fetched, error)

// Reader reads documents that were added, in the background. All fields are set.
type Reader struct {
	Store *knowledge.Store
	Fetch Fetch
	Log   *slog.Logger
}

const (
	// readers is how many documents a node reads at once: each has a process of its own, and calls go before.
	readers = 2
	// readTime is for fetching, reading and storing one.
	readTime = 4 * time.Minute
)

// readDocument is the job that reads one.
type readDocument struct {
	Account  string `json:"account"`
	Document string `json:"document"`
}

// Kind implements jobs.Args.
func (readDocument) Kind() string { return "read_document" }

// Enqueue queues the reading of a document in a transaction.
func Enqueue(ctx context.Context, tx pgx.Tx, q *jobs.Queue, account, document string) error {
	return q.Insert(ctx, tx, readDocument{account, document})
}

// Handle has q's jobs read documents.
func (r *Reader) Handle(q *jobs.Queue) {
	jobs.HandleOrGiveUp(q, jobs.Limits{Workers: readers, Timeout: readTime}, func(ctx context.Context, args readDocument) error {
		return r.Read(ctx, args.Account, args.Document)
	}, func(ctx context.Context, args readDocument) error {
		return r.Store.GiveUp(ctx, args.Account, args.Document, gaveUp)
	})
}

// gaveUp is the reason of a document that the server tried to read, again and again.
const gaveUp = "the server tried to read it many times and failed each time; add it again, or tell the operator"

// Read reads a document of an account. What is wrong with it is noted; an error is for another attempt.
func (r *Reader) Read(ctx context.Context, account, id string) error {
	d, err := r.Store.Take(ctx, account, id)
	if err != nil || d == nil {
		return err
	}
	text, err := r.text(ctx, d)
	if err == nil {
		err = r.Store.Finish(ctx, d, text)
	}
	reason := ""
	var unread *unreadable
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return err // the node stops, or it took too long here
	case errors.As(err, &unread):
		reason = unread.reason
	case errors.Is(err, store.ErrInvalid):
		reason = api.ProblemOf(err).Detail
	default:
		return err
	}
	r.Log.Info("a document cannot be read", "account", account, "document", id, "reason", reason)
	return r.Store.Fail(ctx, d, reason)
}

// unreadable is a document that cannot be read, with the reason for its owner.
type unreadable struct{ reason string }

func (u *unreadable) Error() string { return u.reason }

// text fetches and reads a document.
func (r *Reader) text(ctx context.Context, d *knowledge.Taken) (t knowledge.Text, err error) {
	body, mediaType, name := d.Body, d.MediaType, d.Source
	if d.Web {
		fetched, err := r.Fetch(ctx, d.Source, knowledge.MaxBytes)
		if err != nil {
			return t, &unreadable{err.Error()}
		}
		body, mediaType = fetched.Body, fetched.MediaType
		if u, err := url.Parse(d.Source); err == nil {
			name = path.Base(u.Path)
		}
	}
	read, err := document.Read(ctx, body, name, mediaType)
	if document.Unreadable(err) {
		return t, &unreadable{err.Error()}
	}
	if err != nil {
		return t, err
	}
	t = knowledge.Text{MediaType: read.Format.MediaType(), Title: read.Title, Pages: read.Pages, Passages: knowledge.Cut(read.Blocks)}
	if d.Web {
		t.Body = body
	}
	return t, nil
}
