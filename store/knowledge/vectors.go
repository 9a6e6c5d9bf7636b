package knowledge

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// MaxVectors bounds the passages of a collection that have vectors: some 2,000 pages. Documents for which there is no
// room are found by their words.
const MaxVectors = 10_000

// Embedder makes vectors of texts. Several goroutines may use it.
type Embedder interface {
	// Model is the name of the model: vectors of different ones have nothing in common.
	Model() string
	// Embed makes a vector of each text, in their order, none of which is empty. All have the same length.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Unembedded is a document whose passages get vectors.
type Unembedded struct {
	Document string
	Account  string
	ReadAt   time.Time // when its passages were made
	Model    string
}

// claimVectors takes the first document that has no vectors of a model, and nobody is at work on. Work on it is tried
// again after 5 minutes, and after 40 minutes at last.
const claimVectors = `with next as (
		select d.id, d.account_id, d.base_id, d.read_at, d.passages from knowledge_documents d
		where d.read_at is not null and d.passages > 0 and not exists (select from knowledge_embeddings e
				where e.document_id = d.id and e.model = $1 and e.read_at = d.read_at and (e.ready or e.due_at > $2))
			and d.passages + (select coalesce(sum(o.passages), 0) from knowledge_embeddings o where o.base_id = d.base_id and o.document_id <> d.id) <= $3
		order by d.id limit 1 for no key update of d skip locked)
	insert into knowledge_embeddings as e (document_id, account_id, base_id, model, read_at, passages, tries, due_at)
	select id, account_id, base_id, $1, read_at, passages, 1, $2::timestamptz + interval '5 minutes' from next
	on conflict (document_id) do update set model = excluded.model, read_at = excluded.read_at, passages = excluded.passages, bytes = 0, ready = false,
		tries = case when (e.model, e.read_at) = (excluded.model, excluded.read_at) then e.tries + 1 else 1 end,
		due_at = $2 + case when (e.model, e.read_at) = (excluded.model, excluded.read_at) then interval '5 minutes' * (1 << least(e.tries, 3)) else interval '5 minutes' end
	returning document_id, account_id, read_at, model`

// NextUnembedded hands out a document of any account that has no vectors of a model, or ErrNotFound. What another began
// and did not finish is handed out again.
func (s *Store) NextUnembedded(ctx context.Context, model string) (*Unembedded, error) {
	return store.First[Unembedded](ctx, s.db, "claim vectors", claimVectors, model, s.db.Time(ctx), MaxVectors)
}

// Unvectored is a passage without a vector.
type Unvectored struct {
	No      int
	Heading string
	Text    string
}

// unvectored looks for each passage's vector by its key. As a join it is for the planner to choose how, which knows
// nothing of a document that has just come, and compares each passage with all vectors of the document.
const unvectored = `select p.no, p.heading, p.text from knowledge_passages p
	where p.document_id = $1 and p.account_id = $2
		and (select v.model from knowledge_vectors v where v.document_id = p.document_id and v.no = p.no) is distinct from $3
	order by p.no limit $4`

// Unvectored lists the first passages of a document that have no vector of its model yet, at most so many.
func (s *Store) Unvectored(ctx context.Context, d *Unembedded, most int) ([]Unvectored, error) {
	return store.List[Unvectored](ctx, s.db, "list passages without vectors", unvectored, d.Document, d.Account, d.Model, most)
}

// Vector is that of a passage.
type Vector struct {
	No     int
	Values []float32 // not all of them 0
}

// PutVectors stores vectors of a document. ErrNotFound: it was read again, or is gone.
func (s *Store) PutVectors(ctx context.Context, d *Unembedded, vectors []Vector) error {
	return s.db.Tx(ctx, "store vectors", func(tx pgx.Tx) error {
		if err := lockRead(ctx, tx, d); err != nil {
			return err
		}
		var b pgx.Batch
		for _, v := range vectors {
			b.Queue(`insert into knowledge_vectors (document_id, no, model, vector) values ($1, $2, $3, $4)
				on conflict (document_id, no) do update set model = excluded.model, vector = excluded.vector`, d.Document, v.No, d.Model, packed(v.Values))
		}
		b.Queue("update knowledge_embeddings set tries = 0, due_at = $4 where document_id = $1 and model = $2 and read_at = $3",
			d.Document, d.Model, d.ReadAt, s.db.Time(ctx).Add(5*time.Minute))
		return store.Send(ctx, tx, &b)
	})
}

// Embedded has a document found by its vectors, of which each passage has one. ErrNotFound: it was read again, or is gone.
func (s *Store) Embedded(ctx context.Context, d *Unembedded) error {
	return s.db.Tx(ctx, "finish vectors", func(tx pgx.Tx) error {
		if err := lockRead(ctx, tx, d); err != nil {
			return err
		}
		return store.ErrNotFound.IfUnchanged(tx.Exec(ctx, `update knowledge_embeddings set ready = true, made = made + 1, tries = 0,
				bytes = (select coalesce(sum(octet_length(vector)), 0) from knowledge_vectors where document_id = $1 and model = $2)
			where document_id = $1 and model = $2 and read_at = $3`, d.Document, d.Model, d.ReadAt))
	})
}

// lockRead has a document stay as it was read.
func lockRead(ctx context.Context, tx pgx.Tx, d *Unembedded) error {
	_, err := store.Scalar[string](ctx, tx, "select id from knowledge_documents where id = $1 and account_id = $2 and read_at = $3 for no key update", d.Document, d.Account, d.ReadAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return store.ErrNotFound
	}
	return err
}

// packed is a vector as it is stored: of length 1, so that the product of two is the cosine of their angle.
func packed(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, f := range unit(v) {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(f))
	}
	return out
}

// unit is a vector's direction.
func unit(v []float32) []float32 {
	square := 0.0
	for _, f := range v {
		square += float64(f) * float64(f)
	}
	out := make([]float32, len(v))
	if square == 0 {
		return out
	}
	for i, f := range v {
		out[i] = float32(float64(f) / math.Sqrt(square))
	}
	return out
}

// unpacked appends a stored vector to values.
func unpacked(values []float32, vector []byte) []float32 {
	for ; len(vector) >= 4; vector = vector[4:] {
		values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(vector)))
	}
	return values
}
