package knowledge

import "time"

// Patience is how long searches wait for vectors from now on.
func (s *Store) Patience(d time.Duration) { s.nearest.patience = d }

// The statements of Search.
var (
	SearchAll = searchAll
	SearchAny = searchAny
)

// Shelf is what keeps vectors in memory.
type Shelf struct{ *shelf }

// NewShelf returns one for so many bytes.
func NewShelf(most int64) Shelf { return Shelf{newShelf(most)} }

// ShelfBytes is what a document takes with n numbers.
func ShelfBytes(n int) int64 { return (&vectors{values: make([]float32, n)}).bytes() }

// Put keeps n numbers of a document.
func (s Shelf) Put(document string, made int64, n int) {
	s.put(&vectors{version: version{Document: document, Made: made}, size: 1, values: make([]float32, n)})
}

// Has says whether these are there.
func (s Shelf) Has(document string, made int64) bool {
	return s.get(version{Document: document, Made: made}) != nil
}

// Kept is how many bytes there are.
func (s Shelf) Kept() int64 { return s.kept }
