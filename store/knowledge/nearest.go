package knowledge

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"parley/media/isolate"
	"parley/store"
)

const (
	// candidates is how many passages are taken of each of two rankings before they become one.
	candidates = 20
	// nearestPatience is how long a search waits for vectors at most; a turn waits less.
	nearestPatience = 400 * time.Millisecond
	// nearestTime bounds the work on them, which goes on when nobody waits any more: the vectors are in memory then.
	nearestTime = 5 * time.Second
	// margin is what a search leaves of its caller's time.
	margin = 30 * time.Millisecond
	// atOnce bounds how much of this work goes on at a time.
	atOnce = 16
)

// nearest finds passages by what they mean.
type nearest struct {
	db       *store.DB
	embedder Embedder
	log      *slog.Logger
	kept     *shelf
	places   chan struct{}
	patience time.Duration
}

// UseEmbeddings has searches find passages by their meaning, too, and documents get vectors. Call it before s is used
// by several goroutines.
func (s *Store) UseEmbeddings(e Embedder, log *slog.Logger) {
	s.nearest = &nearest{db: s.db, embedder: e, log: log, kept: newShelf(maxKept), places: make(chan struct{}, atOnce), patience: nearestPatience}
}

// hit is a passage that is near.
type hit struct {
	document string
	no       int
	cosine   float32
}

// begin looks for the passages of collections that are nearest to a query. The channel gives them, the nearest first,
// and is closed; without them there was an error, which is logged.
func (n *nearest) begin(ctx context.Context, account string, bases []string, query string) <-chan []hit {
	out := make(chan []hit, 1)
	select {
	case n.places <- struct{}{}:
	default:
		close(out)
		return out
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), nearestTime)
	isolate.Go("store/knowledge/nearest", nil, func() {
		hits, err := n.find(ctx, account, bases, query)
		if err != nil {
			n.log.Warn("documents are searched by their words alone", "account", account, "err", err)
			return
		}
		out <- hits
	}, cancel, func() { <-n.places }, func() { close(out) })
	return out
}

// listVectors lists the documents of collections that can be found by vectors of a model.
const listVectors = `select e.document_id, e.made, e.bytes from knowledge_embeddings e join knowledge_documents d on d.id = e.document_id
	where e.account_id = $1 and e.base_id = any($2::text[]) and e.model = $3 and e.ready and e.read_at = d.read_at order by e.document_id`

func (n *nearest) find(ctx context.Context, account string, bases []string, query string) ([]hit, error) {
	model := n.embedder.Model()
	documents, err := store.List[version](ctx, n.db, "list vectors", listVectors, account, bases, model)
	if err != nil || len(documents) == 0 {
		return nil, err
	}
	asked, err := n.embedder.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	if len(asked) != 1 {
		return nil, errors.New("knowledge: a query has no vector")
	}
	best := ranking{of: unit(asked[0])}
	room := int64(maxCompared)
	for _, d := range documents {
		if room -= d.Bytes; room < 0 {
			break
		}
		v := n.kept.get(d)
		if v == nil {
			if v, err = load(ctx, n.db, d, model); err != nil {
				return nil, err
			}
			if v == nil {
				continue // it is being made again
			}
			n.kept.put(v)
		}
		best.compare(v)
	}
	return best.hits, nil
}

// ranking collects the passages that are nearest to a vector.
type ranking struct {
	of   []float32
	hits []hit // the nearest first
}

// compare takes those of a document that are near.
func (r *ranking) compare(v *vectors) {
	if v.size != len(r.of) {
		return
	}
	for i, no := range v.nos {
		cosine := dot(r.of, v.values[i*v.size:(i+1)*v.size])
		if cosine <= 0 || len(r.hits) == candidates && cosine <= r.hits[candidates-1].cosine {
			continue
		}
		at, _ := slices.BinarySearchFunc(r.hits, cosine, func(h hit, c float32) int {
			return cmp.Or(cmp.Compare(c, h.cosine), -1) // after those that are as near
		})
		r.hits = slices.Insert(r.hits, at, hit{v.Document, int(no), cosine})
		r.hits = r.hits[:min(len(r.hits), candidates)]
	}
}

// dot is the product of vectors of the same length. Four sums have the processor work on several at once.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

// wait returns what begin finds, or nothing where that is not in time for a search that began then.
func (n *nearest) wait(ctx context.Context, began time.Time, near <-chan []hit) []hit {
	until := began.Add(n.patience)
	if end, ok := ctx.Deadline(); ok && end.Add(-margin).Before(until) {
		until = end.Add(-margin)
	}
	late := time.NewTimer(time.Until(until))
	defer late.Stop()
	select {
	case hits := <-near:
		return hits
	case <-late.C:
	case <-ctx.Done():
	}
	return nil
}

// fusion is the constant k of reciprocal rank fusion: G. V. Cormack, C. L. A. Clarke, S. Büttcher, "Reciprocal Rank Fusion
// outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009.
const fusion = 60

// fused merges two rankings into one: a passage counts 1 / (fusion + its place) in each. Its rank is that, made to be less than 1.
func (s *Store) fused(ctx context.Context, account string, words []Found, near []hit, limit int) ([]Found, error) {
	type place struct {
		document string
		no       int
	}
	all, at := slices.Clone(words), map[place]int{}
	for i := range all {
		at[place{all[i].Document, all[i].No}] = i
		all[i].Rank = 1 / float64(fusion+i+1)
	}
	score := map[place]float64{}
	var documents []string
	var nos []int
	for i, h := range near {
		p, points := place{h.document, h.no}, 1/float64(fusion+i+1)
		if w, known := at[p]; known {
			all[w].Rank += points
			continue
		}
		score[p] = points
		documents, nos = append(documents, h.document), append(nos, h.no)
	}
	if len(documents) > 0 {
		others, err := store.List[Found](ctx, s.db, "read passages", `select p.base_id, p.document_id, d.title, d.source, p.no, p.page, p.heading, p.text, 0::float8
			from unnest($2::text[], $3::int[]) asked (document_id, no) join knowledge_passages p using (document_id, no)
			join knowledge_documents d on d.id = p.document_id where p.account_id = $1`, account, documents, nos)
		if err != nil {
			return nil, err
		}
		for _, o := range others {
			o.Rank = score[place{o.Document, o.No}]
			all = append(all, o)
		}
	}
	slices.SortStableFunc(all, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Document, b.Document), cmp.Compare(a.No, b.No))
	})
	for i := range all {
		all[i].Rank *= fusion / 2 // in both rankings the first: 60/61
	}
	return all[:min(len(all), limit)], nil
}
