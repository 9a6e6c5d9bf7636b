// Package export sends tables of an account as CSV files (RFC 4180).
package export

import (
	"cmp"
	"context"
	"encoding/csv"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/store"
)

// Bounds of exports. A table is first read into a file, fast, because reading holds one of
// the process's twenty database connections and a snapshot; then the file is sent as fast
// as the client takes it.
const (
	maxReads   = 4       // at once
	maxFiles   = 32      // that are read or sent at once
	perAccount = 2       // of either; the last place is for an account that has none
	maxFile    = 1 << 30 // bytes
	readTime   = 2 * time.Minute
	exportTime = 10 * time.Minute
	pieceTime  = 20 * time.Second // in which a client takes a piece
	pieceSize  = 256 << 10        // bytes
)

// Batch is how many lines a table reads at once.
const Batch = 500

// Sender sends files; all routes of a server share one. Its methods may be called from
// several goroutines.
type Sender struct {
	db           *store.DB
	reads, files *gate
}

// New returns a sender that reads from db.
func New(db *store.DB) *Sender { return &Sender{db, newGate(maxReads), newGate(maxFiles)} }

// gate bounds what is done at once. What is too much is refused.
type gate struct {
	most int

	mu      sync.Mutex
	running map[string]int // by account
	all     int
}

func newGate(most int) *gate { return &gate{most: most, running: map[string]int{}} }

// enter lets an account begin, or not.
func (g *gate) enter(account string) (leave func(), ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	has := g.running[account]
	if g.all == g.most || has == perAccount || has > 0 && g.all == g.most-1 {
		return nil, false
	}
	g.all++
	g.running[account]++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.all--
		if g.running[account]--; g.running[account] == 0 {
			delete(g.running, account)
		}
	}, true
}

// Table is something to export.
type Table struct {
	Name   string // of the file, after "parley-"
	Header []string
	// Next reads on where it was; more says whether it must be asked again.
	Next func(context.Context, *store.Statement) (rows [][]string, more bool, err error)
}

// Send answers with a table, all from one moment. One that cannot be read is an error; where
// sending fails the connection breaks off, for half a table must not pass for a whole one.
func (d *Sender) Send(w http.ResponseWriter, r *http.Request, t Table) error {
	account := api.PrincipalOf(r.Context()).Account
	leave, ok := d.files.enter(account)
	if !ok {
		return api.ErrBusy
	}
	defer leave()
	ctx, cancel := context.WithTimeout(r.Context(), exportTime)
	defer cancel()
	file, err := d.read(ctx, account, t, r.Method == http.MethodHead)
	if err != nil {
		return err
	}
	defer file.Close()
	describeFile(w.Header(), t.Name)
	if r.Method == http.MethodHead {
		return nil
	}
	if err := send(ctx, w, file); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// read reads a table into a file without a name; of a table of which only the head is
// wanted, as much as shows that it can be read.
func (d *Sender) read(ctx context.Context, account string, t Table, head bool) (*os.File, error) {
	leave, ok := d.reads.enter(account)
	if !ok {
		return nil, api.ErrBusy
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	file, err := os.CreateTemp("", "parley-export-*")
	if err != nil {
		return nil, err
	}
	if err = os.Remove(file.Name()); err == nil {
		err = d.db.Statement(ctx, account, func(at *store.Statement) error { return t.write(ctx, at, file, head) })
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = file.Close() // the first error says more
		return nil, err
	}
	return file, nil
}

// write reads the table and writes it.
func (t Table) write(ctx context.Context, at *store.Statement, file *os.File, head bool) error {
	enc := csv.NewWriter(file)
	enc.UseCRLF = true
	if err := enc.Write(t.Header); err != nil {
		return err
	}
	for more := true; more; {
		var rows [][]string
		var err error
		if rows, more, err = t.Next(ctx, at); err != nil {
			return err
		}
		if err := enc.WriteAll(rows); err != nil || head {
			return err
		}
		if size, err := file.Seek(0, io.SeekCurrent); err != nil {
			return err
		} else if size > maxFile {
			return api.Detail(api.ErrTooLarge, "the table is too long: ask for a shorter time")
		}
	}
	return nil
}

// send sends a file, piece by piece.
func send(ctx context.Context, w http.ResponseWriter, file *os.File) error {
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	to := http.NewResponseController(w)
	for left := size; left > 0 && err == nil; left -= pieceSize {
		_ = to.SetWriteDeadline(time.Now().Add(pieceTime)) // not every writer can
		if _, err = io.CopyN(w, file, min(left, pieceSize)); err == nil {
			err = cmp.Or(to.Flush(), ctx.Err())
		}
	}
	_ = to.SetWriteDeadline(time.Time{}) // as above
	return err
}

func describeFile(h http.Header, name string) {
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", `attachment; filename="parley-`+name+`.csv"`)
}

// Route adds to a route what all exports answer with.
func Route(r api.Route, params []*huma.Param) api.Route {
	r.Description += " The file is CSV as RFC 4180 has it: UTF-8, a header line, lines that end with CRLF. It shows one moment, " +
		"however long it takes to send. One that cannot be completed ends with a broken connection, never as if it were whole. " +
		"An account may export two files at once."
	r.Errors = append(r.Errors, http.StatusBadRequest)
	r.Parameters = params
	r.Responses = map[string]*huma.Response{"200": {Description: "The table", Content: map[string]*huma.MediaType{
		"text/csv": {Schema: &huma.Schema{Type: huma.TypeString}}}}}
	return r
}

// Columns names a header for people.
func Columns(header []string) string { return "`" + strings.Join(header, ",") + "`" }

// Time is a moment as tables write it.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Moment is a time that may be absent: then its cell is empty.
func Moment(t *time.Time) string {
	if t == nil {
		return ""
	}
	return Time(*t)
}

// Optional is a text that may be absent: then its cell is empty.
func Optional(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Words is a text that a user wrote: one that a spreadsheet would compute begins
// with an apostrophe there, as spreadsheets mark plain text. PlainWords undoes it.
func Words(s string) string {
	if isComputed(s) {
		return "'" + s
	}
	return s
}

// PlainWords is the text that Words made a cell of.
func PlainWords(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && isComputed(rest) {
		return rest
	}
	return cell
}

// computed are the characters with which a text begins that some spreadsheet computes: the
// signs, also in full width, and white space that it takes away before it looks.
const computed = "=+-@'\t\r\n\uff1d\uff0b\uff0d\uff20"

func isComputed(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return s != "" && strings.ContainsRune(computed, first)
}
