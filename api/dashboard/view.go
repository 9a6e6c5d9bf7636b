package dashboard

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
	"time"

	"parley/api/wire"
	"parley/billing"
	"parley/store/ledger"
	"parley/store/people"
)

//go:embed template
var templateFiles embed.FS

// views are the templates, one set for each page: the layout, the parts that all pages
// may use, and the page's own file.
type views struct{ pages map[string]*template.Template }

func newViews(d *Dashboard) *views {
	base := template.Must(template.New("").Funcs(functions(d)).ParseFS(templateFiles, "template/*.html", "template/part/*.html"))
	v := &views{map[string]*template.Template{}}
	files, err := templateFiles.ReadDir("template/page")
	if err != nil {
		panic("dashboard: " + err.Error()) // the compiler has embedded them
	}
	for _, f := range files {
		t := template.Must(template.Must(base.Clone()).ParseFS(templateFiles, "template/page/"+f.Name()))
		v.pages[strings.TrimSuffix(f.Name(), path.Ext(f.Name()))] = t
	}
	return v
}

// write answers with a template of a page.
func (v *views) write(w http.ResponseWriter, code int, page, name string, data any) error {
	t := v.pages[page]
	if t == nil {
		return fmt.Errorf("dashboard: there is no template for the page %s", page)
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Vary", "HX-Request")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // the client has gone
	return nil
}

// view is what a layout shows.
type view struct {
	Title    string
	Data     any
	Nav      []navGroup
	Browser  *people.Browser
	Accounts []people.Membership // the user's
	Account  *ledger.Account     // that is looked at; nil: none
	Notices  []string            // what operators or owners must know first
	Low      string              // what to say about the balance; empty: nothing
	Notice   string              // what was just done
	Demo     bool

	layout string
}

// view gathers it. Who is not signed in gets a layout without navigation.
func (q *Request) view(name, title string, data any) (*view, error) {
	v := &view{Title: title, Data: data, Browser: q.Browser, layout: "bare"}
	if q.Browser == nil {
		return v, nil
	}
	var err error
	v.layout, v.Notice, v.Demo = "layout", q.Browser.Notice, q.Browser.Demo
	v.Nav = navigation(q)
	for _, a := range q.Notices {
		switch {
		case q.Browser.User.Operator():
			v.Notices = append(v.Notices, a.Operator)
		case q.Browser.Membership == people.RoleOwner:
			v.Notices = append(v.Notices, a.Owner)
		}
	}
	if v.Notice != "" {
		if err := q.People.PutNotice(q.Context(), q.Browser, ""); err != nil {
			return nil, err
		}
	}
	if v.Accounts, err = q.People.Memberships(q.Context(), q.Browser.User.ID); err != nil {
		return nil, err
	}
	if q.Browser.Account == "" {
		return v, nil
	}
	if v.Account, err = q.Ledger.Account(q.Context(), q.Browser.Account); err != nil {
		return nil, err
	}
	v.Low = q.low(v.Account)
	return v, nil
}

// low is what people must know about an account before anything else.
func (q *Request) low(a *ledger.Account) string {
	switch balance := a.Balance(); {
	case a.OpenDisputes > 0:
		return "A payment is disputed: no new call or job starts until that is resolved."
	case a.Suspended:
		return "The account is suspended: no new call or job starts."
	case balance < q.Card().Wallet().MinSessionStart:
		return "The balance is too low: no new call or job starts. Top up to go on."
	case balance < q.Card().Wallet().AutoRecharge.Threshold:
		return "The balance is low. Calls in progress end when it is used up."
	}
	return ""
}

// functions are what templates may call.
func functions(d *Dashboard) template.FuncMap {
	return template.FuncMap{
		"asset":   d.assets.Path,
		"usd":     usd,
		"exact":   exact,
		"when":    when,
		"moment":  moment,
		"seconds": duration,
		"plural":  plural,
		"path":    Path,
		"field":   func(f *Form, name, label string, options ...string) Field { return f.Field(name, label, options...) },
		"join":    strings.Join,
	}
}

// usd writes an amount, billing.Money or wire.USD, for people: to the cent, and below one
// to two digits that are none of the zeros before them.
func usd(amount any) (string, error) {
	var m billing.Money
	switch a := amount.(type) {
	case billing.Money:
		m = a
	case wire.USD:
		m = billing.Money(a)
	default:
		return "", fmt.Errorf("%T is no amount", amount)
	}
	sign := ""
	if m < 0 {
		sign, m = "−", -m
	}
	cents := billing.USD / 100
	if m != 0 && m < cents {
		last := billing.Money(1)
		for m/last >= 100 {
			last *= 10
		}
		return sign + "$" + ((m + last/2) / last * last).String(), nil
	}
	rounded := (m + cents/2) / cents
	return fmt.Sprintf("%s$%d.%02d", sign, rounded/100, rounded%100), nil
}

// moment writes a time for scripts to turn into the reader's own; nothing for none.
func moment(t *time.Time, none string) template.HTML {
	if t == nil {
		return template.HTML(template.HTMLEscapeString(none))
	}
	return when(*t)
}

// when writes a time in UTC, which a script turns into the reader's own.
func when(t time.Time) template.HTML {
	t = t.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s UTC</time>`, t.Format(time.RFC3339), t.Format("2 Jan 2006, 15:04")))
}

// duration writes how long something took: 0:07, 12:30, 1:02:03.
func duration(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
