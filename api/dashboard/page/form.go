package page

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"parley/api"
	"parley/billing"
)

// Form is what was entered, and what is wrong with it. The zero value is an empty form.
type Form struct {
	Values url.Values
	Errors map[string]string // by field
	Fault  string            // what is wrong with the whole
}

// Form reads what was sent. A body that is too large or none of a form's is an error.
func (q *Request) Form() (*Form, error) {
	if err := q.R.ParseForm(); err != nil {
		return nil, api.ReadError(err)
	}
	return &Form{Values: q.R.PostForm}, nil
}

// FormWithFile is Form for one in which the field file is a file; nil: there is none. It holds most
// bytes in memory, as many as the page takes.
func (q *Request) FormWithFile(most int64) (f *Form, file []byte, err error) {
	switch err := q.R.ParseMultipartForm(most); {
	case errors.Is(err, http.ErrNotMultipart):
		f, err = q.Form()
		return f, nil, err
	case err != nil:
		return nil, nil, api.ReadError(err)
	}
	defer func() { _ = q.R.MultipartForm.RemoveAll() }() // all of it was in memory
	f = &Form{Values: url.Values(q.R.MultipartForm.Value)}
	part, _, err := q.R.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) {
		return f, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer part.Close()
	file, err = io.ReadAll(part)
	return f, file, err
}

// NewForm returns a form that is filled in already, with names and values in turn.
func NewForm(filled ...string) *Form {
	f := &Form{Values: url.Values{}}
	for i := 0; i+1 < len(filled); i += 2 {
		f.Values.Set(filled[i], filled[i+1])
	}
	return f
}

// Value is what was entered, without spaces around it.
func (f *Form) Value(name string) string { return strings.TrimSpace(f.Values.Get(name)) }

// Fail says what is wrong with a field; the first word counts. An empty name is the
// whole form.
func (f *Form) Fail(name, what string) {
	if name == "" {
		if f.Fault == "" {
			f.Fault = what
		}
		return
	}
	if f.Errors == nil {
		f.Errors = map[string]string{}
	}
	if f.Errors[name] == "" {
		f.Errors[name] = what
	}
}

// Need returns what was entered, and complains when that is nothing.
func (f *Form) Need(name, complaint string) string {
	v := f.Value(name)
	if v == "" {
		f.Fail(name, complaint)
	}
	return v
}

// Amount reads a number of dollars.
func (f *Form) Amount(name, complaint string) billing.Money {
	text := strings.TrimPrefix(f.Need(name, complaint), "$")
	m, err := billing.ParseMoney(text)
	if err != nil {
		f.Fail(name, "Write a number of dollars, such as 25.")
	}
	return m
}

// OK says whether nothing is wrong.
func (f *Form) OK() bool { return f.Fault == "" && len(f.Errors) == 0 }

// Refused puts an error into the form when the person can do something about it: what
// the API says about a field ("url: …") beside the field of that name, anything else
// above all. It returns errors that are no answer to what was entered.
func (f *Form) Refused(err error) error {
	if err == nil {
		return nil
	}
	p := api.ProblemOf(err)
	switch {
	case p.Status >= 500 && !p.Retryable, p.Status == 401, p.Status == 500:
		return err
	case p.Detail == "":
		f.Fail("", p.Message)
		return nil
	}
	field, what, ok := strings.Cut(p.Detail, ": ")
	field = strings.TrimPrefix(strings.TrimPrefix(field, "body."), "query.")
	if _, known := f.Values[field]; ok && known {
		f.Fail(field, Sentence(what))
	} else {
		f.Fail("", Sentence(p.Detail))
	}
	return nil
}

// Sentence makes one of what the API says in small letters.
func Sentence(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.ContainsAny(s[len(s)-1:], ".!?…") {
		s += "."
	}
	return s
}

// Field is one input with its label, for the templates "field", "area", "select" and "check".
type Field struct {
	ID                                     string // on the page; the name where a name is there once
	Name, Label, Value, Error              string
	Type, Hint, Autocomplete, Placeholder  string
	Inputmode, Min, Max, Step, Rows, Width string
	Checked, Focus, Mono                   bool
	Options                                []Option

	Need Need
}

// Need is whether a field must be filled in.
type Need uint8

const (
	Optional Need = iota // its label says so
	Required
	Plain // the label says nothing of it
)

// Required says whether the field must be filled in.
func (x Field) Required() bool { return x.Need == Required }

// Optional says whether its label says that it need not be.
func (x Field) Optional() bool { return x.Need == Optional }

// Field makes an input of the form. Options are "hint=…", "type=email" and so on, or
// a word such as "required".
func (f *Form) Field(name, label string, options ...string) Field {
	x := Field{ID: name, Name: name, Label: label, Type: "text", Rows: "4"}
	if f != nil {
		x.Value, x.Error = f.Values.Get(name), f.Errors[name]
		x.Checked = x.Value != ""
	}
	texts := map[string]*string{"type": &x.Type, "hint": &x.Hint, "autocomplete": &x.Autocomplete, "placeholder": &x.Placeholder,
		"inputmode": &x.Inputmode, "min": &x.Min, "max": &x.Max, "step": &x.Step, "rows": &x.Rows, "width": &x.Width, "value": &x.Value}
	flags := map[string]*bool{"focus": &x.Focus, "checked": &x.Checked, "mono": &x.Mono}
	needs := map[string]Need{"required": Required, "plain": Plain}
	for _, o := range options {
		k, v, _ := strings.Cut(o, "=")
		if p, ok := texts[k]; ok && (k != "value" || x.Value == "") {
			*p = v
		} else if p, ok := flags[k]; ok {
			*p = true
		} else if n, ok := needs[k]; ok {
			x.Need = n
		} else if k != "value" {
			panic("page: a field has no option " + o) // a mistake in a template, which the tests render
		}
	}
	if x.Type == "password" {
		x.Value = "" // never sent back
	}
	return x
}

// Select makes a field of choices; the chosen one is what was entered, else chosen.
func (f *Form) Select(name, label, chosen string, choices []Option, options ...string) Field {
	x := f.Field(name, label, options...)
	if x.Value == "" {
		x.Value = chosen
	}
	x.Choose(choices)
	return x
}

// Choose makes the field one of choices.
func (x *Field) Choose(choices []Option) {
	x.Options = slices.Clone(choices)
	for i := range x.Options {
		x.Options[i].Selected = x.Options[i].Value == x.Value
		if x.Required() && x.Options[i].Value == "" { // one of the choices, which browsers would take for none
			x.Need = Plain
		}
	}
}

// Once names what a form asks for. The page keeps it in a hidden field, so that a form that
// comes twice, by a second click or by loading its answer again, is known to be the same.
func (f *Form) Once() string {
	const field = "once"
	if f.Value(field) == "" {
		f.Values.Set(field, rand.Text())
	}
	return f.Value(field)
}

// CallOnce is Call for what must not happen twice when its form comes twice: the second
// time it is answered as the first. What is asked for is part of the name: who goes back
// and changes it asks for something else. A form without a name is one of its own.
func (q *Request) CallOnce(f *Form, method, address string, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(append([]byte(f.Once()+"\n"), text...))
	return q.CallWith(api.WithIdempotencyKey(q.Context(), hex.EncodeToString(sum[:])), method, address, in, out)
}
