package loopbacktest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Receive notes a request in the books and reads its body. A body of more than limit bytes is an
// *http.MaxBytesError; after any other error the client is gone.
func (s *Server) Receive(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	s.Note(func(b *Books) { b.Query, b.Header = r.URL.Query(), r.Header.Clone() })
	return io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
}

// Numbered is a new identifier: prefix and the next number of this server.
func (s *Server) Numbered(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.numbers++
	return fmt.Sprintf("%s%020d", prefix, s.numbers)
}

// UnknownField is the name of a field that an object must not have.
type UnknownField string

// Error implements error.
func (f UnknownField) Error() string { return "unknown field " + string(f) }

// Strict decodes one JSON value; a field that to has no place for is an UnknownField.
func Strict(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	var inner UnknownField
	if err == nil || errors.As(err, &inner) { // of a type that decodes itself
		return err
	}
	if _, field, ok := strings.Cut(err.Error(), "unknown field "); ok {
		return UnknownField(strings.Trim(field, `"`))
	}
	return err
}
