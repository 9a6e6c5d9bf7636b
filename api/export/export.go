// Package export sends tables of an account as CSV files (RFC 4180) while they are
// read from the database.
package export

import (
	"context"
	"encoding/csv"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/store"
)

// Bounds of exports. Each holds one of the process's twenty database connections
// while it runs, so they must not be many, nor last as long as a client likes.
const (
	maxExports = 4 // at once; more are refused with api.ErrBusy
	perAccount = 2 // of these
	exportTime = 10 * time.Minute
	batchTime  = 20 * time.Second // in which a client takes a batch; less than the database waits
)

// Batch is how many lines a table reads at once.
const Batch = 500

// Desk sends files; all routes of a server share one. Its methods may be called from
// several goroutines.
type Desk struct {
	db      *store.DB
	mu      sync.Mutex
	running map[string]int // exports, by account
	all     int
}

// New returns a desk that reads from db.
func New(db *store.DB) *Desk { return &Desk{db: db, running: map[string]int{}} }

// enter lets an export begin, or not.
func (d *Desk) enter(account string) (leave func(), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == maxExports || d.running[account] == perAccount {
		return nil, false
	}
	d.all++
	d.running[account]++
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.all--
		if d.running[account]--; d.running[account] == 0 {
			delete(d.running, account)
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

// Send writes a table while it is read, all from one moment. A fault after the first
// bytes breaks the connection off, for half a table must not pass for a whole one.
func (d *Desk) Send(w http.ResponseWriter, r *http.Request, t Table) {
	account := api.PrincipalOf(r.Context()).Account
	leave, ok := d.enter(account)
	if !ok {
		api.WriteError(w, api.ErrBusy)
		return
	}
	defer leave()
	ctx, cancel := context.WithTimeout(r.Context(), exportTime)
	defer cancel()
	begun := false
	err := d.db.Statement(ctx, account, func(at *store.Statement) error {
		for more := true; more; {
			var rows [][]string
			var err error
			if rows, more, err = t.Next(ctx, at); err != nil {
				return err
			}
			if !begun {
				begun = true
				describeFile(w.Header(), t.Name)
				rows = append([][]string{t.Header}, rows...)
			}
			if err := write(w, rows); err != nil || r.Method == http.MethodHead {
				return err
			}
		}
		return nil
	})
	switch {
	case err != nil && begun:
		panic(http.ErrAbortHandler)
	case err != nil:
		api.WriteError(w, err)
	default:
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // it could be set before, or not at all
	}
}

func describeFile(h http.Header, name string) {
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", `attachment; filename="parley-`+name+`.csv"`)
}

// write sends rows on their way.
func write(w http.ResponseWriter, rows [][]string) error {
	to := http.NewResponseController(w)
	_ = to.SetWriteDeadline(time.Now().Add(batchTime)) // not every writer can
	enc := csv.NewWriter(w)
	enc.UseCRLF = true
	if err := enc.WriteAll(rows); err != nil {
		return err
	}
	return to.Flush()
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

// Optional is a text that may be absent: then its cell is empty.
func Optional(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Words is a text that somebody wrote: one that a spreadsheet would compute begins
// with an apostrophe there, as spreadsheets mark plain text. PlainWords undoes it.
func Words(s string) string {
	if s != "" && strings.ContainsRune(computed, rune(s[0])) {
		return "'" + s
	}
	return s
}

// PlainWords is the text that Words made a cell of.
func PlainWords(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && rest != "" && strings.ContainsRune(computed, rune(rest[0])) {
		return rest
	}
	return cell
}

const computed = "=+-@'"
