// Package upload reads the audio files, and other files, that clients send in the body of a request,
// bounds how many are in memory at once, and says what is wrong with those that
// cannot be decoded.
package upload

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/api"
	"parley/media/transcode"
)

// Bounds of a body.
const (
	// MaxFile is how many bytes an audio file may have.
	MaxFile = transcode.MaxBytes
	// MaxBody is what a route that takes files should give as its MaxBodyBytes: a
	// file, and the frame that a form puts around it.
	MaxBody = MaxFile + 64<<10
	// patience is how long a client may take to send a body: 25 MB at 3.5 Mbit/s.
	// Until then it keeps others from sending theirs.
	patience = time.Minute
	// maxFields and maxField bound what a form has besides its file: a field is a
	// word or a number.
	maxFields = 16
	maxField  = 1 << 10
	// maxPiece is how many bytes of a body without a length come into one piece of memory.
	maxPiece = 1 << 20
)

// Audio is an uploaded file.
type Audio struct {
	Data []byte
	// Fields are the other fields of a form, by name; the first of several counts.
	Fields map[string]string
}

// File is an uploaded file of a form, with what its client says of it.
type File struct {
	Audio
	Name      string // as the client calls it, without folders; may be empty
	MediaType string // may be empty
}

// ReadFile reads the file of most bytes in a field of a multipart form. Its errors are those of Read.
func ReadFile(w http.ResponseWriter, r *http.Request, field string, most int64) (File, error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err != nil || kind != formType:
		return File{}, api.ErrMediaType
	case params["boundary"] == "":
		return File{}, api.Bad("The form's Content-Type has no boundary.")
	}
	api.SetBodyPatience(w, patience)
	f, err := readForm(multipart.NewReader(r.Body, params["boundary"]), field, most)
	if errors.Is(err, api.ErrTooLarge) {
		_, _ = io.Copy(io.Discard, r.Body) // as Read does
	}
	return f, err
}

// Read reads a file from the body of a request: the body itself, or the field audio of a
// multipart form. Its content decides what it is, not what the client says of it. Its errors belong into the error table: 413 for a file that is
// too large, 415 for a body that is no file, 400 for a form without one.
func Read(w http.ResponseWriter, r *http.Request) (Audio, error) { return read(w, r, MaxFile) }

// read is Read for files of most bytes.
func read(w http.ResponseWriter, r *http.Request, most int64) (Audio, error) {
	kind, params, err := contentType(r)
	if err != nil {
		return Audio{}, err
	}
	api.SetBodyPatience(w, patience)
	if kind != formType && r.ContentLength > most {
		return Audio{}, api.ErrTooLarge
	}
	var a Audio
	if kind == formType {
		var f File
		f, err = readForm(multipart.NewReader(r.Body, params["boundary"]), fileField, most)
		a = f.Audio
	} else {
		a.Data, err = readAll(r.Body, most, r.ContentLength)
	}
	if errors.Is(err, api.ErrTooLarge) {
		// The server waits for a client to read its answer only where it met the
		// route's own bound, which is a little further on.
		_, _ = io.Copy(io.Discard, r.Body)
	}
	return a, err
}

const (
	formType  = "multipart/form-data"
	fileField = "audio" // of a form
)

// CheckType says whether a request's content type is one that Read takes, with
// api.ErrMediaType when it is not: it may be asked before there is room for the
// body.
func CheckType(r *http.Request) error {
	_, _, err := contentType(r)
	return err
}

// contentType is the media type of a body. Browsers record into video types, too,
// and a program that knows nothing better sends none or octets.
func contentType(r *http.Request) (kind string, params map[string]string, err error) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return "", nil, nil
	}
	kind, params, err = mime.ParseMediaType(header)
	switch {
	case err != nil && kind == "":
		return "", nil, api.ErrMediaType
	case kind == formType && params["boundary"] == "":
		return "", nil, api.Bad("The form's Content-Type has no boundary.")
	case kind == formType, strings.HasPrefix(kind, "audio/"),
		slices.Contains([]string{"video/webm", "video/mp4", "video/ogg", "video/quicktime", "application/ogg", "application/octet-stream"}, kind):
		return kind, params, nil
	}
	return "", nil, api.Detail(api.ErrMediaType, "Send audio/wav or another audio type, or multipart/form-data with a file.")
}

// readForm reads the parts of a form as they come, so that what is too much is
// never kept.
func readForm(form *multipart.Reader, field string, most int64) (File, error) {
	f := File{Audio: Audio{Fields: map[string]string{}}}
	found := false
	for range maxFields {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			if !found {
				return File{}, api.Bad("The form has no file in a field named %q.", field)
			}
			return f, nil
		}
		if err != nil {
			return File{}, readError(err)
		}
		name := part.FormName()
		switch {
		case name == field && !found:
			found = true
			f.Name, f.MediaType = part.FileName(), part.Header.Get("Content-Type")
			f.Data, err = readAll(part, most, -1)
		case name == field:
			err = api.Bad("The form has more than one %q.", field)
		default:
			var b []byte
			b, err = readAll(part, maxField, -1)
			if _, have := f.Fields[name]; !have {
				f.Fields[name] = string(b)
			}
		}
		if err != nil {
			return File{}, err
		}
	}
	return File{}, api.Bad("The form has too many fields.")
}

// ReadAll reads limit bytes at most. The length that a request promises is believed as
// far as memory for it is concerned: the limit has been checked. What comes without one, length
// -1, is kept in pieces until its end, so that reading costs twice its size at most. Errors are
// those of r, and api.ErrTooLarge.
func ReadAll(r io.Reader, limit, length int64) ([]byte, error) {
	var before [][]byte // full pieces
	left := limit
	b := make([]byte, 0, max(512, min(length, limit)+1))
	for {
		if int64(len(b)) > left {
			return nil, api.ErrTooLarge
		}
		if len(b) == cap(b) {
			before = append(before, b)
			left -= int64(len(b))
			b = make([]byte, 0, min(2*len(b), maxPiece))
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case !errors.Is(err, io.EOF) && err != nil:
			return nil, err
		case err == nil:
		case int64(len(b)) > left:
			return nil, api.ErrTooLarge
		case before == nil:
			return b, nil
		default:
			return bytes.Join(append(before, b), nil), nil
		}
	}
}

// readAll is ReadAll with the errors of Read.
func readAll(r io.Reader, limit, length int64) ([]byte, error) {
	b, err := ReadAll(r, limit, length)
	if err != nil {
		return nil, readError(err)
	}
	return b, nil
}

// readError is what a failure to read the body means.
func readError(err error) error {
	if too := api.ReadError(err); too == api.ErrTooLarge {
		return too
	}
	return api.Bad("The body ends early, came too slowly or is no proper form.")
}

// Fault is what an error of transcode.Decode means to the client that sent the
// file; other errors stay as they are.
func Fault(err error) error {
	reason := ""
	if e, ok := errors.AsType[*transcode.Error](err); ok {
		reason = ": " + e.Reason
	}
	switch {
	case errors.Is(err, transcode.ErrUnknownFormat):
		return api.Bad("The file is no audio of a known kind; send WAV, MP3, AAC, Ogg, WebM, MP4 or FLAC.")
	case errors.Is(err, transcode.ErrNoDecoder):
		return api.Bad("This server reads WAV and PCM only; the file is compressed.")
	case errors.Is(err, transcode.ErrDamaged):
		return api.Detail(api.ErrBadRequest, "The audio file cannot be decoded"+reason+".")
	case errors.Is(err, transcode.ErrTooSlow):
		return api.Bad("The audio file took too long to decode.")
	case errors.Is(err, transcode.ErrTooLarge):
		return api.Detail(api.ErrTooLarge, "A file may have 25 MB.")
	case errors.Is(err, transcode.ErrTooLong):
		return api.Detail(api.ErrTooLarge, "A file may hold two hours of audio.")
	case errors.Is(err, transcode.ErrBusy):
		return api.Detail(api.ErrBusy, "Too many files are being decoded; try again.")
	}
	return err
}

// Gate bounds how many files are in memory at once, of everybody together and of
// one account, so that a client with slow lines does not keep all others out. It
// is safe for use from several goroutines.
type Gate struct {
	mostOfOne int
	wait      time.Duration

	mu    sync.Mutex
	free  int
	inUse map[string]int // by account
	left  chan struct{}  // closed when a place becomes free
}

// NewGate returns a gate for most files, half of them of one account. Who finds it
// full waits, and is refused after wait.
func NewGate(most int, wait time.Duration) *Gate {
	return &Gate{mostOfOne: (most + 1) / 2, wait: wait, free: most, inUse: map[string]int{}, left: make(chan struct{})}
}

// Enter takes a place, which leave gives back. It fails with api.ErrBusy, or with
// the cause of ctx.
func (g *Gate) Enter(ctx context.Context, account string) (leave func(), err error) {
	full := time.NewTimer(g.wait)
	defer full.Stop()
	for {
		left, ok := g.try(account)
		if ok {
			return sync.OnceFunc(func() { g.leave(account) }), nil
		}
		select {
		case <-left:
		case <-full.C:
			return nil, api.ErrBusy
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// try takes a place if there is one, else it says when to try again.
func (g *Gate) try(account string) (left <-chan struct{}, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.free == 0 || g.inUse[account] >= g.mostOfOne {
		return g.left, false
	}
	g.free--
	g.inUse[account]++
	return nil, true
}

func (g *Gate) leave(account string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free++
	if g.inUse[account]--; g.inUse[account] == 0 {
		delete(g.inUse, account)
	}
	close(g.left)
	g.left = make(chan struct{})
}
