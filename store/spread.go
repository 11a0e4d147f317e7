package store

// Spread is a store that may need several calls for one decision, such as one whose keys
// lie on several servers: see [Calls].
type Spread interface {
	Store
	Calls(checks []Check) int
}

// Calls returns how many calls the checks of one decision take at most: 1, unless s says
// otherwise. If there are several, what the first of them spend is given back when a
// later one denies, and others can see it in between.
func Calls(s Store, checks []Check) int {
	if spread, ok := s.(Spread); ok {
		return spread.Calls(checks)
	}
	return 1
}
