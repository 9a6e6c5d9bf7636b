package agent

import (
	"regexp"
	"strings"
)

// headerVariable begins the names of variables that are headers of the call, as {{call.header.x-customer-id}}. Their
// capitals do not count, as those of headers do not.
const headerVariable = "call.header."

// headerNames are those of headers that calls carry for programs.
var headerNames = regexp.MustCompile(`^(?:x-[a-z0-9-]{1,62}|user-to-user)$`)

// keyOf is the key of a variable's value.
func keyOf(name string) string {
	if strings.HasPrefix(name, headerVariable) {
		return strings.ToLower(name)
	}
	return name
}

// isHeader says whether a variable is a header of the call. A call without this header has it empty.
func isHeader(name string) bool {
	rest, ok := strings.CutPrefix(keyOf(name), headerVariable)
	return ok && headerNames.MatchString(rest)
}

// addHeaders adds the headers of a call to its values. The far end writes them, and a model reads them: they are
// without the marks that set them off.
func (f Fill) addHeaders(headers map[string]string) {
	for name, value := range headers {
		if key := keyOf(headerVariable + name); isHeader(key) {
			f.values[key] = plain(strings.NewReplacer("“", `"`, "”", `"`).Replace(value))
		}
	}
}
