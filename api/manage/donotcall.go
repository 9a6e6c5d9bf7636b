package manage

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/export"
	"parley/api/wire"
	"parley/store"
)

// doNotCall serves an account's do-not-call list.
type doNotCall struct {
	db    *store.DB
	files *export.Sender
}

var listRoutes = managed("Call center")

func mountDoNotCall(a *api.API, m doNotCall) {
	const path = "/v1/do-not-call"
	api.Register(a, listRoutes.Get(path, "list-do-not-call", "List the do-not-call list",
		"Newest first. An outgoing call to one of them is refused with `callcenter.do_not_call` and costs nothing; calls from them are taken. "+
			"Agents with the function `opt_out` add callers who ask for it."), m.list)
	api.Register(a, listRoutes.Post(path, "add-do-not-call", "Add a number to the do-not-call list",
		"Holds from the next call on. A number that is on the list already stays as it is, and the answer shows that."), m.add)
	api.Register(a, listRoutes.Get(path+"/{number}", "get-do-not-call", "Check the do-not-call list for a number",
		"404: it is not on the list.", http.StatusNotFound), m.get)
	api.Register(a, listRoutes.Delete(path+"/{number}", "remove-do-not-call", "Remove a number from the do-not-call list",
		"Entries that agents or operators made are removed, too. Make sure that the owner of the number agrees.", http.StatusNotFound), m.remove)
	a.Handle(export.Route(listRoutes.Get(path+".csv", "export-do-not-call", "Export the do-not-call list",
		"The numbers of `GET /v1/do-not-call`, newest first, with the columns "+export.Columns(listedHeader)+". A reason that a spreadsheet would "+
			"compute begins with an apostrophe."), nil), api.HandlerFunc(m.exportCSV))
	a.Handle(importRoute(path+".csv"), api.HandlerFunc(m.importCSV))
}

func viewListed(e *store.DoNotCall) wire.DoNotCall {
	return wire.DoNotCall{Number: e.Number, Reason: e.Reason, Source: string(e.Source), CallID: e.Call, Since: e.Since}
}

func (m doNotCall) list(ctx context.Context, in *api.Paging) (*api.Listed[wire.DoNotCall], error) {
	return api.Pages(in.Limit, func(e store.DoNotCall) string { return e.ID }, viewListed)(m.db.DoNotCalls(ctx, api.AccountOf(ctx), in.Page()))
}

func (m doNotCall) add(ctx context.Context, in *struct{ Body wire.NewListed }) (*api.Reply[wire.DoNotCall], error) {
	e, _, err := m.db.AddDoNotCall(ctx, api.AccountOf(ctx),
		store.DoNotCall{Number: in.Body.Number, Reason: in.Body.Reason, Source: store.ListedByAPI})
	return api.Show(viewListed)(e, err)
}

type listedInput struct {
	Number string `path:"number" doc:"In international format, with its +." maxLength:"64" example:"+34612345678"`
}

func (m doNotCall) get(ctx context.Context, in *listedInput) (*api.Reply[wire.DoNotCall], error) {
	return api.Show(viewListed)(m.db.DoNotCall(ctx, api.AccountOf(ctx), in.Number))
}

func (m doNotCall) remove(ctx context.Context, in *listedInput) (*struct{}, error) {
	return nil, m.db.RemoveDoNotCall(ctx, api.AccountOf(ctx), in.Number)
}

var listedHeader = []string{"number", "reason", "source", "call_id", "since"}

func (m doNotCall) exportCSV(w http.ResponseWriter, r *http.Request) error {
	p := store.Page{Limit: export.Batch}
	return m.files.Send(w, r, export.Table{Name: "do-not-call", Header: listedHeader, Next: func(ctx context.Context, s *store.Statement) (rows [][]string, more bool, err error) {
		found, err := s.DoNotCalls(ctx, p)
		for _, e := range found {
			rows = append(rows, []string{e.Number, export.Words(e.Reason), string(e.Source), export.Optional(e.Call), export.Time(e.Since)})
			p.After = e.ID
		}
		return rows, len(found) == p.Limit, err
	}})
}

// Bounds of an import.
const (
	maxImport      = 2 << 20         // bytes: store.MaxListing numbers with reasons
	importPatience = 1 * time.Minute // in which it is sent
)

func importRoute(path string) api.Route {
	r := listRoutes.Post(path, "import-do-not-call", "Import numbers into the do-not-call list",
		fmt.Sprintf("Adds a list: CSV in UTF-8, up to %d lines and 2 MB. When the first line has a column `number`, it names the columns, of which `number` and "+
			"`reason` are read, so that an export can be imported elsewhere; otherwise the first column is the number and the second, if there is one, "+
			"the reason. All lines are added, or none: the refusal says which line is wrong. Numbers that are on the list stay as they are.", store.MaxListing), http.StatusUnsupportedMediaType)
	r.MaxBodyBytes = maxImport
	r.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"text/csv": {Schema: &huma.Schema{Type: huma.TypeString}, Example: "number,reason\n+34612345678,wrote to us\n"}}}
	r.Responses = map[string]*huma.Response{"200": {Description: "What was added", Content: map[string]*huma.MediaType{
		"application/json": {Schema: &huma.Schema{Type: huma.TypeObject, Required: []string{"added", "known"}, Properties: map[string]*huma.Schema{
			"added": {Type: huma.TypeInteger, Description: "Numbers that were not on the list before."},
			"known": {Type: huma.TypeInteger, Description: "Lines whose number was on the list, or in an earlier line."},
		}}}}}}
	return r
}

// imported is the answer to an import.
type imported struct {
	Added int `json:"added"`
	Known int `json:"known"`
}

func (m doNotCall) importCSV(w http.ResponseWriter, r *http.Request) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "text/csv" {
		return api.ErrMediaType
	}
	api.SetBodyPatience(w, importPatience)
	entries, lines, err := readListing(r.Body)
	if err != nil {
		return err
	}
	added, err := m.db.ListDoNotCall(r.Context(), api.PrincipalOf(r.Context()).Account, entries)
	if wrong, ok := errors.AsType[*store.ListingError](err); ok {
		_, what, _ := strings.Cut(wrong.Err.Error(), store.ErrInvalid.Error()+": ")
		err = api.Bad("line %d: %s", lines[wrong.At], what)
	}
	if err == nil {
		api.WriteJSON(w, http.StatusOK, imported{added, len(entries) - added})
	}
	return err
}

// readListing reads an import, and on which line each entry began.
func readListing(from io.Reader) (entries []store.DoNotCall, lines []int, err error) {
	dec := csv.NewReader(from)
	dec.FieldsPerRecord, dec.TrimLeadingSpace = -1, true
	number, reason := 0, 1
	for first := true; ; first = false {
		row, err := dec.Read()
		if errors.Is(err, io.EOF) {
			return entries, lines, nil
		}
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, nil, api.Bad("line %d: not CSV", wrong.Line)
		}
		if err != nil {
			return nil, nil, api.ReadError(err)
		}
		if first {
			row[0] = strings.TrimPrefix(row[0], "\ufeff") // spreadsheets begin files with a byte order mark
			if at := slices.Index(row, listedHeader[0]); at >= 0 {
				number, reason = at, slices.Index(row, listedHeader[1])
				continue
			}
		}
		line, _ := dec.FieldPos(0)
		if len(entries) == store.MaxListing {
			return nil, nil, api.Bad("line %d: %d numbers at most", line, store.MaxListing)
		}
		cell := func(at int) string {
			if at < 0 || at >= len(row) {
				return ""
			}
			return row[at]
		}
		entries = append(entries, store.DoNotCall{Number: cell(number), Reason: export.PlainWords(cell(reason)), Source: store.ListedByAPI})
		lines = append(lines, line)
	}
}
