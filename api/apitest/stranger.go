package apitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
)

// judgeStranger judges the answer to a request that the document does not have, for
// the reason why.
func (d *Document) judgeStranger(req *http.Request, resp *http.Response, body []byte, why error) error {
	known := errors.Is(why, routers.ErrMethodNotAllowed) // the path, with another method
	switch {
	case req.Method == http.MethodOptions && resp.StatusCode == http.StatusNoContent && known:
		return nil // a browser asks before it asks
	case resp.StatusCode == http.StatusNotFound && !known, resp.StatusCode == http.StatusMethodNotAllowed && known:
		return d.judgeRefusal(req, resp, body)
	}
	return fmt.Errorf("it is not in the document and may not be answered with %d", resp.StatusCode)
}

// judgeRefusal holds a refusal that no route describes to the form of all errors.
func (d *Document) judgeRefusal(req *http.Request, resp *http.Response, body []byte) error {
	if req.Method == http.MethodHead {
		return nil
	}
	if !isJSON(resp.Header) {
		return fmt.Errorf("it is refused with Content-Type %q", resp.Header.Get("Content-Type"))
	}
	form := d.Components.Schemas["Error"]
	if form == nil || form.Value == nil {
		return errors.New("the document has no schema Error")
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	return form.Value.VisitJSON(v, openapi3.VisitAsResponse(), openapi3.EnableJSONSchema2020())
}

func isJSON(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == "application/json"
}
