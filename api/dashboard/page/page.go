// Package page is what pages of the dashboard are made of: a request with who sends it, which
// answers with templates and asks the API's routes, forms with what is wrong with them, and words
// for amounts and times. It knows no page.
package page

// Audience is who may open a page.
type Audience uint8

// Who may open a page. The zero value is what most pages want.
const (
	Members   Audience = iota // who is signed in and looks at an account of theirs
	Owners                    // of these its owners
	Users                     // who is signed in, with an account or without
	Operators                 // of these the operators
	Anybody                   // without a sign-in
)

// Page is one address of the dashboard.
type Page struct {
	Route string // method and path, as "GET /app/keys" or "POST /app/keys/{id}/revoke"
	Open  Audience
	Max   int64 // bytes of the body; 0: 64 KiB
	// Serve answers; Form, in its place, answers a form that was sent.
	Serve func(*Request) error
	Form  func(*Request, *Form) error
}

// Answer answers a request by whichever of the two there is.
func (p *Page) Answer(q *Request) error {
	if p.Form == nil {
		return p.Serve(q)
	}
	f, err := q.Form()
	if err != nil {
		return err
	}
	return p.Form(q, f)
}
