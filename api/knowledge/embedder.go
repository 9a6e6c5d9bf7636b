package knowledge

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
	"parley/store/jobs"
	"parley/store/knowledge"
)

const (
	// embedEvery is how often documents without vectors are looked for: those of another model, and those that failed.
	embedEvery = time.Minute
	// embedTime bounds a round; what is left is for the next.
	embedTime = 4 * time.Minute
	// embedBatch is how many passages get vectors with one request: 20,000 tokens or so.
	embedBatch = 64
)

// embedDocuments is the job that gives documents vectors.
type embedDocuments struct{}

// Kind implements jobs.Args.
func (embedDocuments) Kind() string { return "embed_documents" }

// EnqueueEmbedding has documents without vectors get some, in a transaction.
func EnqueueEmbedding(ctx context.Context, tx pgx.Tx, q *jobs.Queue) error {
	return q.Insert(ctx, tx, embedDocuments{})
}

// Embedder gives documents vectors, in the background. All fields are set, and the Store uses the same Engine.
type Embedder struct {
	Store  *knowledge.Store
	Engine knowledge.Embedder
	Log    *slog.Logger
}

// Handle has q's jobs give documents vectors. A round that fails is over: the next one comes within a minute, with
// another document.
func (e *Embedder) Handle(q *jobs.Queue) {
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: embedTime}, func(ctx context.Context, _ embedDocuments) error {
		if err := e.Embed(ctx); err != nil && ctx.Err() == nil {
			e.Log.Warn("documents get no vectors now and are tried again", "err", err)
		}
		return nil
	})
	jobs.Every(q, embedEvery, embedDocuments{})
}

// Embed gives all documents vectors that have none, until one of them fails.
func (e *Embedder) Embed(ctx context.Context) error {
	return jobs.Drain(ctx, embedTime, func(ctx context.Context) (*knowledge.Unembedded, error) {
		return e.Store.NextUnembedded(ctx, e.Engine.Model())
	}, func(ctx context.Context, d *knowledge.Unembedded) error {
		err := e.document(ctx, d)
		if errors.Is(err, store.ErrNotFound) {
			return nil // it was read again, or is gone
		}
		return err
	})
}

// document gives the passages of a document vectors that have none.
func (e *Embedder) document(ctx context.Context, d *knowledge.Unembedded) error {
	for {
		passages, err := e.Store.Unvectored(ctx, d, embedBatch)
		if err != nil {
			return err
		}
		if len(passages) == 0 {
			return e.Store.Embedded(ctx, d)
		}
		texts := make([]string, len(passages))
		for i, p := range passages {
			texts[i] = strings.TrimSpace(p.Heading + "\n" + p.Text)
		}
		made, err := e.Engine.Embed(ctx, texts)
		if err != nil {
			return err
		}
		if len(made) != len(texts) {
			return errors.New("knowledge: texts without vectors")
		}
		vectors := make([]knowledge.Vector, len(made))
		for i, values := range made {
			vectors[i] = knowledge.Vector{No: passages[i].No, Values: values}
		}
		if err := e.Store.PutVectors(ctx, d, vectors); err != nil {
			return err
		}
	}
}
