package api

import "net/http"

// Cross-origin requests (the Fetch standard, section 3.3). There are no cookies
// here: a page of any site needs a credential of its own, so any site may ask.
const (
	corsMethods = "GET, POST, PUT, PATCH, DELETE, OPTIONS"
	corsHeaders = "Authorization, X-API-Key, Content-Type, Accept, If-Match, Last-Event-ID, " +
		"Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name" // what MCP clients in pages send
	corsExposed = "Retry-After, Content-Disposition, X-Audio-Duration-Seconds, Location, ETag, Link, Accept-Post, Accept-Patch"
	corsMaxAge  = "86400" // seconds
)

// openToPages lets pages of any site read the answer.
func openToPages(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", corsExposed)
}

// isPreflight says whether r is a browser's question before the real request. It is not
// counted: refused, the page would see a network that is down instead of why.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// preflight answers a browser that asks before it sends the real request, which
// carries no credential.
func preflight(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	openToPages(h)
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", corsHeaders)
	h.Set("Access-Control-Max-Age", corsMaxAge)
	w.WriteHeader(http.StatusNoContent)
}
