package knowledge

import (
	"container/list"
	"context"
	"sync"

	"parley/store"
)

const (
	// maxKept bounds the vectors that a node keeps in memory, in bytes: those of some 20,000 passages with 1,536 numbers.
	maxKept = 128 << 20
	// maxCompared bounds those that one search looks at, in bytes.
	maxCompared = 64 << 20
)

// version names the vectors of a document.
type version struct {
	Document string
	Made     int64
	Bytes    int64
}

// vectors are those of a document. Nobody changes them.
type vectors struct {
	version
	nos    []int32   // of the passages
	size   int       // of each vector, in numbers
	values []float32 // one vector after the other
}

// bytes is about what they have in memory.
func (v *vectors) bytes() int64 { return int64(4*cap(v.values) + 4*cap(v.nos) + 200) }

// shelf keeps vectors in memory. Those that were not used for the longest time go first. Several goroutines may use it.
type shelf struct {
	most int64 // bytes

	mu   sync.Mutex
	by   map[string]*list.Element // of *vectors, by document
	used list.List                // the latest first
	kept int64                    // bytes
}

func newShelf(most int64) *shelf { return &shelf{most: most, by: map[string]*list.Element{}} }

// get returns the vectors of a document, or nil: they are not here, or older ones.
func (s *shelf) get(v version) *vectors {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.by[v.Document]
	if e == nil || e.Value.(*vectors).Made != v.Made {
		return nil
	}
	s.used.MoveToFront(e)
	return e.Value.(*vectors)
}

// put keeps vectors in the place of others of their document.
func (s *shelf) put(v *vectors) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.by[v.Document]; e != nil {
		s.drop(e)
	}
	if v.bytes() > s.most {
		return
	}
	s.by[v.Document] = s.used.PushFront(v)
	for s.kept += v.bytes(); s.kept > s.most; {
		s.drop(s.used.Back())
	}
}

// drop needs the lock.
func (s *shelf) drop(e *list.Element) {
	v := s.used.Remove(e).(*vectors)
	delete(s.by, v.Document)
	s.kept -= v.bytes()
}

// load reads the vectors of a document that a model made.
func load(ctx context.Context, db *store.DB, of version, model string) (*vectors, error) {
	type row struct {
		No     int32
		Vector []byte
	}
	rows, err := store.List[row](ctx, db, "read vectors", "select no, vector from knowledge_vectors where document_id = $1 and model = $2 order by no", of.Document, model)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	v := &vectors{version: of, size: len(rows[0].Vector) / 4, nos: make([]int32, 0, len(rows))}
	v.values = make([]float32, 0, len(rows)*v.size)
	for _, r := range rows {
		if len(r.Vector) == 4*v.size { // a server may change what a model's name stands for
			v.nos, v.values = append(v.nos, r.No), unpacked(v.values, r.Vector)
		}
	}
	return v, nil
}
