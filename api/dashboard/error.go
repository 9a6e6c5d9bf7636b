package dashboard

import "parley/api"

// errorPages answer what is no page.
func errorPages() []page {
	return []page{{route: "GET " + home + "/{rest...}", open: anybody, serve: func(*Request) error { return api.ErrNotFound }}}
}
