package knowledge

// The statements of Search.
var (
	SearchAll = searchAll
	SearchAny = searchAny
)
