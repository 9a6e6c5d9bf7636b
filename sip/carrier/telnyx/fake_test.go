package telnyx_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"parley/sip/carrier/carriertest"
)

type doc = map[string]any

// fake is as much of the numbers API as we use, with state: what was ordered is not
// for sale any more, orders settle later, numbers appear after them. It checks every
// parameter.
type fake struct {
	t   *testing.T
	url string

	mu      sync.Mutex
	seq     int
	stock   []offered
	orders  []doc // newest first, as Telnyx lists them
	numbers []doc
	texts   []doc
	plans   map[string]carriertest.Behaviour // of numbers that were asked for
	next    int                              // of stock, for Number
	// answers are made up for the next requests whose method and path begin so.
	answers  []answer
	away     bool
	lag      bool     // orders are placed and not listed
	requests []string // method, path and query, in order
}

// offered is a number of the stock.
type offered struct {
	number, state, town string
	doc                 doc
}

// answer is what a request gets instead of, or with lost after, the real one.
type answer struct {
	request string
	status  int
	header  map[string]string
	body    string
	lost    bool // carried out, and the connection ends without an answer
	hang    bool // nothing is said until the client gives up
}

const stockSize = 40

func newFake(t *testing.T) *fake {
	f := &fake{t: t, plans: map[string]carriertest.Behaviour{}}
	towns := [][2]string{{"ENG", "London"}, {"ENG", "Leeds"}, {"SCT", "Edinburgh"}}
	for i := range stockSize {
		place, number := towns[i%len(towns)], fmt.Sprintf("+442079460%03d", 10+7*i)
		f.stock = append(f.stock, offered{number, place[0], place[1], doc{
			"record_type": "available_phone_number", "phone_number": number, "best_effort": false, "reservable": true,
			"quickship": false, "vanity_format": nil,
			"cost_information": doc{"currency": "USD", "monthly_cost": "1.00000", "upfront_cost": "0.10000"},
			"features":         []doc{{"name": "fax"}, {"name": "voice"}},
			"region_information": []doc{
				{"region_type": "country_code", "region_name": "GB"}, {"region_type": "state", "region_name": place[0]},
				{"region_type": "rate_center", "region_name": "EXCHANGE 1"}, {"region_type": "location", "region_name": place[1]},
			},
		}})
	}
	s := httptest.NewServer(f)
	// A lost answer must not be asked for again by the HTTP client itself, as it
	// does on a connection used before.
	s.Config.SetKeepAlivesEnabled(false)
	t.Cleanup(s.Close)
	f.url = s.URL + "/v2"
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, away := f.planned(r)
	if away {
		panic(http.ErrAbortHandler)
	}
	if a != nil && a.hang {
		<-r.Context().Done()
		return
	}
	if a != nil && !a.lost {
		for k, v := range a.header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(a.status)
		io.WriteString(w, a.body)
		return
	}
	status, body := f.serve(r)
	if a != nil {
		panic(http.ErrAbortHandler)
	}
	text, err := json.Marshal(body)
	if err != nil {
		f.t.Error(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(text)
}

// planned notes a request and takes the answer that was made up for it, if any.
func (f *fake) planned(r *http.Request) (*answer, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	line := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/v2")
	f.requests = append(f.requests, line+"?"+r.URL.RawQuery)
	i := slices.IndexFunc(f.answers, func(a answer) bool { return strings.HasPrefix(line, a.request) })
	if i < 0 {
		return nil, f.away
	}
	a := f.answers[i]
	f.answers = slices.Delete(f.answers, i, i+1)
	return &a, f.away
}

// answer makes answers up for the next requests, instead of those made up before.
func (f *fake) answer(list ...answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers = list
}

// asked are the requests so far.
func (f *fake) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

// ordered counts the orders that were taken.
func (f *fake) ordered() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.orders)
}

func refusal(status int, code, title, detail string) (int, doc) {
	return status, doc{"errors": []doc{{"code": code, "title": title, "detail": detail}}}
}

func (f *fake) serve(r *http.Request) (int, doc) {
	if r.Header.Get("Authorization") != "Bearer "+apiKey {
		return refusal(http.StatusUnauthorized, "10009", "Authentication failed", "The key "+apiKey+" is not known.")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/v2")
	switch id, one := strings.CutPrefix(path, "/phone_numbers/"); {
	case r.Method == http.MethodGet && path == "/available_phone_numbers":
		return f.searchLocked(r)
	case r.Method == http.MethodGet && path == "/number_orders":
		return f.listOrdersLocked(r)
	case r.Method == http.MethodPost && path == "/number_orders":
		return f.orderLocked(r)
	case r.Method == http.MethodPost && path == "/messages":
		return f.sendLocked(r)
	case r.Method == http.MethodGet && strings.HasPrefix(path, "/messages/"):
		return f.textLocked(strings.TrimPrefix(path, "/messages/"))
	case r.Method == http.MethodGet && path == "/phone_numbers":
		return f.listNumbersLocked(r)
	case r.Method == http.MethodPatch && one:
		return f.patchLocked(r, id)
	case r.Method == http.MethodDelete && one:
		return f.deleteLocked(id)
	}
	f.t.Errorf("no such route: %s %s", r.Method, path)
	return refusal(http.StatusNotFound, "10005", "Resource not found", "No such route.")
}

// filters reads the query and complains about parameters that are not documented.
func (f *fake) filters(r *http.Request, known ...string) map[string]string {
	out := map[string]string{}
	for name, values := range r.URL.Query() {
		if !slices.Contains(known, name) || len(values) != 1 {
			f.t.Errorf("%s: parameter %s=%v", r.URL.Path, name, values)
		}
		out[name] = values[0]
	}
	return out
}

func (f *fake) searchLocked(r *http.Request) (int, doc) {
	q := f.filters(r, "filter[country_code]", "filter[phone_number_type]", "filter[best_effort]", "filter[limit]",
		"filter[administrative_area]", "filter[locality]", "filter[phone_number][ends_with]")
	limit, err := strconv.Atoi(q["filter[limit]"])
	if err != nil || q["filter[phone_number_type]"] != "local" || q["filter[best_effort]"] != "false" || len(q["filter[country_code]"]) != 2 {
		f.t.Errorf("search %v", q)
	}
	town, covered := q["filter[locality]"], false
	data := []doc{}
	for _, o := range f.stock {
		covered = covered || town == "" || strings.EqualFold(town, o.town)
		if q["filter[country_code]"] == "GB" && (town == "" || strings.EqualFold(town, o.town)) &&
			strings.HasSuffix(o.number, q["filter[phone_number][ends_with]"]) && len(data) < limit &&
			(q["filter[administrative_area]"] == "" || strings.EqualFold(q["filter[administrative_area]"], o.state)) {
			data = append(data, o.doc)
		}
	}
	if !covered {
		return refusal(http.StatusBadRequest, "10015", "Bad Request", "No coverage there.")
	}
	return http.StatusOK, doc{"data": data, "meta": doc{"total_results": len(data), "best_effort_results": 0}}
}

func (f *fake) listOrdersLocked(r *http.Request) (int, doc) {
	q := f.filters(r, "filter[customer_reference]", "page[size]")
	data := []doc{}
	for _, o := range f.orders {
		// Lists do not say how each number is.
		if ref := o["customer_reference"].(string); !f.lag && strings.Contains(ref, q["filter[customer_reference]"]) {
			c := doc{}
			for k, v := range o {
				c[k] = v
			}
			c["phone_numbers"] = []doc{{"id": "dc8e4d67", "phone_number": numberOf(o)}}
			data = append(data, c)
		}
	}
	return http.StatusOK, doc{"data": data, "meta": doc{"total_pages": 1, "total_results": len(data)}}
}

func numberOf(order doc) string {
	return order["phone_numbers"].([]doc)[0]["phone_number"].(string)
}

func (f *fake) orderLocked(r *http.Request) (int, doc) {
	var in struct {
		Numbers []struct {
			PhoneNumber string `json:"phone_number"`
		} `json:"phone_numbers"`
		Connection string `json:"connection_id"`
		Profile    string `json:"messaging_profile_id"`
		Reference  string `json:"customer_reference"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil || len(in.Numbers) != 1 || in.Connection != connection || in.Profile != profile || in.Reference == "" {
		f.t.Errorf("order %+v, %v", in, err)
	}
	number := in.Numbers[0].PhoneNumber
	i := slices.IndexFunc(f.stock, func(o offered) bool { return o.number == number })
	plan := f.plans[number]
	switch {
	case i < 0:
		return refusal(http.StatusUnprocessableEntity, "10027", "Number unavailable", "The number "+number+" cannot be ordered.")
	case plan == carriertest.Refused:
		return refusal(http.StatusUnprocessableEntity, "10004", "Missing required parameter", "A requirement group is needed.")
	}
	f.stock = slices.Delete(f.stock, i, i+1)
	f.seq++
	met := plan != carriertest.Failing
	o := doc{
		"id": fmt.Sprintf("12ade33a-21c0-473b-b055-%012d", f.seq), "record_type": "number_order", "phone_numbers_count": 1,
		"connection_id": in.Connection, "customer_reference": in.Reference, "status": "pending", "requirements_met": met,
		"phone_numbers": []doc{{"record_type": "number_order_phone_number", "phone_number": number, "status": "pending", "requirements_met": met}},
	}
	f.orders = append([]doc{o}, f.orders...)
	if plan == carriertest.Prompt { // but not usable yet
		f.decideLocked(o, "success", "purchase-pending")
	}
	return http.StatusOK, doc{"data": o}
}

func (f *fake) decideLocked(order doc, status, numberStatus string) {
	order["status"] = status
	order["phone_numbers"].([]doc)[0]["status"] = status
	if status != "success" {
		return
	}
	f.seq++
	f.numbers = append(f.numbers, doc{
		"id": fmt.Sprint(1293384261075731000 + f.seq), "record_type": "phone_number", "phone_number": numberOf(order),
		"status": numberStatus, "connection_id": nil, "customer_reference": order["customer_reference"],
	})
}

func (f *fake) listNumbersLocked(r *http.Request) (int, doc) {
	q := f.filters(r, "filter[phone_number]", "page[size]")
	data := []doc{}
	for _, n := range f.numbers {
		if digits := q["filter[phone_number]"]; len(digits) >= 3 && strings.Contains(n["phone_number"].(string)[1:], digits) {
			data = append(data, n)
		}
	}
	return http.StatusOK, doc{"data": data, "meta": doc{"total_pages": 1, "total_results": len(data)}}
}

func (f *fake) numberLocked(id string) doc {
	for _, n := range f.numbers {
		if n["id"] == id && n["status"] == "active" {
			return n
		}
	}
	return nil
}

func (f *fake) patchLocked(r *http.Request, id string) (int, doc) {
	var in struct {
		Connection string `json:"connection_id"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Connection != connection {
		f.t.Errorf("patch %+v, %v", in, err)
	}
	n := f.numberLocked(id)
	if n == nil {
		return refusal(http.StatusNotFound, "10005", "Resource not found", "No such number.")
	}
	n["connection_id"] = in.Connection
	return http.StatusOK, doc{"data": n}
}

func (f *fake) deleteLocked(id string) (int, doc) {
	n := f.numberLocked(id)
	if n == nil {
		return refusal(http.StatusNotFound, "10005", "Resource not found", "No such number.")
	}
	n["status"] = "deleted"
	return http.StatusOK, doc{"data": n}
}
