package page

import (
	"net/http"
	"slices"
	"time"

	"parley/api"
)

// themeCookie keeps the theme that a browser has chosen, for pages that are read before the sign-in, too.
const themeCookie = "parley-theme"

// themeLasts is how long a browser keeps it.
const themeLasts = 365 * 24 * time.Hour

// theme is the theme that the browser of a request has chosen; empty: that of the system.
func theme(r *http.Request) string {
	c, err := r.Cookie(themeCookie)
	if err != nil || c.Value != "light" && c.Value != "dark" {
		return ""
	}
	return c.Value
}

// Themes are the choices, of which one is selected.
func (v *view) Themes() []Option { return themes(v.Theme) }

// Themes are the choices, of which the one that the browser has made is selected.
func (q *Request) Themes() []Option { return themes(theme(q.R)) }

func themes(chosen string) []Option {
	return []Option{{Value: "", Label: "As the system", Selected: chosen == ""}, {Value: "light", Label: "Light", Selected: chosen == "light"},
		{Value: "dark", Label: "Dark", Selected: chosen == "dark"}}
}

// ChooseTheme has the browser keep a theme: light, dark, or empty for that of the system. secure says that the site is
// reached by https alone.
func (q *Request) ChooseTheme(name string, secure bool) error {
	if !slices.Contains([]string{"", "light", "dark"}, name) {
		return api.ErrBadRequest
	}
	c := &http.Cookie{Name: themeCookie, Value: name, Path: Home, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure, MaxAge: int(themeLasts.Seconds())}
	if name == "" {
		c.MaxAge = -1
	}
	http.SetCookie(q.W, c)
	return nil
}
