package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"parley/store"
)

// API collects the routes of the public HTTP side and the document that describes
// them. Routes are added by the packages below this one, before the first request.
type API struct {
	keys Keys
	mux  *http.ServeMux
	huma huma.API
	next Route           // the route that is being added
	open map[string]bool // patterns of the mux that pages of all sites may use
	told map[string]func(http.Header)
	// repeats: see Remember.
	repeats Repeats
}

// Route is what there is to say about a route besides its types.
type Route struct {
	huma.Operation
	Access Access
	// Scope is the groups to which the route belongs; a ticket with a scope opens no route
	// that belongs to none.
	Scope Scope
	// KnowsKeys has a public route find out whether a key was sent, to tell it more. A
	// credential that is not good counts as none.
	KnowsKeys bool
	// OwnPagesOnly refuses pages of other sites what they may read elsewhere.
	OwnPagesOnly bool
	// OwnErrors has the handler answer a body that is too large, which it learns by reading.
	OwnErrors bool
	// Missing is the answer to an identifier that names nothing; nil: store.ErrNotFound.
	Missing    error
	repetition repetition
	// Elsewhere sends a request on to the server of the cluster that has what it names, which answers it, and says whether one has; nil: no
	// other server can have it.
	Elsewhere func(http.ResponseWriter, *http.Request) bool
	// Options adds to the answer to OPTIONS, which needs no credential; nil: nothing.
	Options func(http.Header)
}

// maxJSON bounds a request's body where the route sets no bound of its own, in bytes.
const maxJSON = 64 << 10

// New returns an API without routes. Credentials are looked up in keys.
func New(keys Keys) *API {
	a := &API{keys: keys, mux: http.NewServeMux(), open: map[string]bool{}, told: map[string]func(http.Header){}}
	a.huma = humago.New(recorder{a}, documentConfig())
	return a
}

// Register adds a route whose request and answer are described by the types I and
// O, as huma understands them. What the handler returns as an error is looked up
// in the error table. Fields that I's body does not have are ignored.
func Register[I, O any](a *API, r Route, handler func(context.Context, *I) (*O, error)) {
	if r.MaxBodyBytes == 0 {
		r.MaxBodyBytes = maxJSON
	}
	a.next = r
	describe(&r)
	r.Operation.MaxBodyBytes = -1 // the bound is mount's: net/http has to learn of it, see bounded
	huma.Register(a.huma, r.Operation, func(ctx context.Context, in *I) (*O, error) {
		out, err := handler(ctx, in)
		if err != nil {
			if errors.Is(err, store.ErrNotFound) && r.Missing != nil {
				err = r.Missing
			}
			Refused(ctx, err)
			return nil, &refusal{problemIn(ctx, err)}
		}
		return out, nil
	})
	// The library documents its own status for what does not fit; ours is 400.
	op := operation(a.huma.OpenAPI(), r)
	delete(op.Responses, strconv.Itoa(http.StatusUnprocessableEntity))
	a.explain(op)
}

// operation finds a route in the document.
func operation(doc *huma.OpenAPI, r Route) *huma.Operation {
	item := doc.Paths[r.Path]
	return map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put,
		http.MethodPatch: item.Patch, http.MethodDelete: item.Delete}[r.Method]
}

// Handle adds a route that reads and writes HTTP itself: a socket, a stream, a
// page. The operation must describe what the types of Register would. Who sends
// the request has been found out, see PrincipalOf; a body above MaxBodyBytes ends
// with an error that ReadError knows.
func (a *API) Handle(r Route, handler http.Handler) {
	if r.MaxBodyBytes == 0 {
		r.MaxBodyBytes = maxJSON
	}
	a.next = r
	describe(&r)
	a.describeErrors(&r.Operation)
	if !r.Hidden {
		a.huma.OpenAPI().AddOperation(&r.Operation)
	}
	a.mount(r.Method+" "+r.Path, handler)
}

// recorder hands the routes that huma makes to the API.
type recorder struct{ a *API }

func (m recorder) HandleFunc(pattern string, f func(http.ResponseWriter, *http.Request)) {
	own := m.a.next.SkipValidateParams
	m.a.mount(pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !own && !storableQuery(r) {
			WriteError(w, Bad("query: text that is not valid UTF-8, or holds a zero character"))
			return
		}
		f(w, r)
	}))
}

func (m recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.a.mux.ServeHTTP(w, r) }

// mount adds to a handler what all routes need: the check of the credential, the bound of
// the body and CORS headers.
func (a *API) mount(pattern string, handler http.Handler) {
	route := a.next
	a.mux.Handle(pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, _ := r.Context().Value(guardKey{}).(*passage)
		if !route.OwnPagesOnly {
			openToPages(w.Header())
		}
		if route.Access != Public {
			p, err := a.who(r, route.Access)
			if err == nil {
				err = route.opens(p)
			}
			if err != nil {
				WriteError(w, err)
				return
			}
			r = r.WithContext(context.WithValue(r.Context(), principalKey{}, p))
			r.Body = v.watch(r, route.Path, p)
		} else if route.KnowsKeys && Credential(r) != "" {
			if p, err := a.who(r, Management); err == nil || p.Operator {
				r = r.WithContext(context.WithValue(r.Context(), principalKey{}, p))
			}
		}
		if !Storable(r.URL.Path) && !route.OwnErrors {
			WriteError(w, cmp.Or[error](route.Missing, store.ErrNotFound)) // no identifier is so
			return
		}
		if r.ContentLength > route.MaxBodyBytes && !route.OwnErrors {
			WriteError(w, ErrTooLarge)
			return
		}
		if route.Elsewhere != nil && route.Elsewhere(w, r) {
			return
		}
		r.Body = bounded(w, r, route.MaxBodyBytes)
		if route.repetition != unnoticed && a.repeats != nil && r.Header.Get(onceHeader) != "" {
			a.once(w, r, whose(PrincipalOf(r.Context()), route.Access), route.repetition, handler)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	a.open[pattern], a.told[pattern] = !route.OwnPagesOnly, route.Options
}

// preflight answers OPTIONS of paths that pages of all sites may use. It is one
// route for all paths: by path, two could match the same address.
func (a *API) preflight(w http.ResponseWriter, r *http.Request) {
	patterns, allow := matches(a.mux, r)
	for _, p := range patterns {
		if a.open[p] {
			if tell := a.told[p]; tell != nil {
				tell(w.Header())
			}
			preflight(w, r)
			return
		}
	}
	refuseMethod(w, allow)
}

// Handler serves the routes and answers everything else with an error.
func (a *API) Handler(o Options) http.Handler {
	a.mux.Handle("/", Fallback())
	a.mux.HandleFunc("OPTIONS /", a.preflight)
	return Wrap(a.mux, o)
}

// refusal is an error of the table on its way through huma.
type refusal struct{ Problem }

func (r *refusal) Error() string  { return r.Code }
func (r *refusal) GetStatus() int { return r.Status }

// GetHeaders implements huma.HeadersError.
func (r *refusal) GetHeaders() http.Header { return r.headers() }

// The library's own refusals, of requests that do not fit their route, in our words.
func init() {
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		why := ErrBadRequest
		switch status {
		case 0: // the library asks for the type
			return &refusal{}
		case http.StatusRequestEntityTooLarge:
			why = ErrTooLarge
		case http.StatusUnsupportedMediaType:
			why = ErrMediaType
		case http.StatusRequestTimeout:
			why = context.DeadlineExceeded
		default:
			switch {
			case slices.ContainsFunc(errs, tooLarge):
				return &refusal{ProblemOf(ErrTooLarge)}
			case status >= 500:
				why = fmt.Errorf("%s", message)
			case slices.ContainsFunc(errs, unknownType): // a route that checks its body itself
				why = ErrMediaType
			}
		}
		return &refusal{ProblemOf(Detail(why, firstDetail(message, errs)))}
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
		err := huma.NewError(status, message, errs...)
		if r, ok := err.(*refusal); ok {
			r.Request = RequestIDOf(ctx.Context())
		}
		return err
	}
}

// unknownType says whether a request's body is of a media type that is not taken.
func unknownType(err error) bool {
	d, ok := err.(huma.ErrorDetailer)
	return ok && strings.HasPrefix(d.ErrorDetail().Message, huma.ErrUnknownContentType.Error())
}

// firstDetail says what is wrong with a request; of several things the first.
func firstDetail(message string, errs []error) string {
	for _, err := range errs {
		if d, ok := err.(huma.ErrorDetailer); ok {
			e := d.ErrorDetail()
			if e.Location != "" {
				return e.Location + ": " + e.Message
			}
			return e.Message
		}
	}
	return message
}

// jsonFormat is the library's JSON without its escaping of HTML.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	},
	Unmarshal: json.Unmarshal,
}
