package dashboard

import "strings"

// Hashed is how many passwords were hashed.
func (d *Dashboard) Hashed() int64 { return d.hasher.done.Load() }

// Readable are the routes that can be read, as they are registered.
func Readable() (routes []string) {
	for _, p := range (*Dashboard)(nil).pages() {
		if strings.HasPrefix(p.Route, "GET ") {
			routes = append(routes, strings.TrimPrefix(p.Route, "GET "))
		}
	}
	return routes
}
