package rulefile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// hint notes what to do if something is wrong at a node.
func (c *checker) hint(at ast.Node, format string, args ...any) {
	c.hints[at.Location()] = fmt.Sprintf(format, args...)
}

// method helps with path.startsWith("/x") and user.lower(), as other languages write it.
func (c *checker) method(n *ast.CallNode, callee *ast.MemberNode) {
	property, ok := callee.Property.(*ast.StringNode)
	if !ok {
		return
	}
	name := property.Value
	switch {
	case slices.Contains([]string{"startsWith", "endsWith", "contains", "matches"}, name) && len(n.Arguments) == 1:
		c.hint(n, "write %s %s %s", callee.Node, name, n.Arguments[0])
	case slices.Contains(builtins, name) && len(n.Arguments) == 0:
		c.hint(n, "write %s(%s)", name, callee.Node)
	}
}

// member helps with user.plan: texts have no fields.
func (c *checker) member(n *ast.MemberNode) {
	property, ok := n.Property.(*ast.StringNode)
	if name, known := n.Node.(*ast.IdentifierNode); ok && known && isText(n.Node) {
		c.hint(n, "%s is a text; what else is known is attribute(%q)", name.Value, property.Value)
	}
}

// compared helps with a text that is compared with a number.
func (c *checker) compared(n *ast.BinaryNode) {
	text, other := n.Left, n.Right
	if !isText(text) {
		text, other = other, text
	}
	if !isText(text) || !isNumber(other) {
		return
	}
	if constant, ok := text.(*ast.StringNode); ok {
		c.hint(n, "write numbers without quotes: %s", constant.Value)
		return
	}
	c.hint(n, "make it a number: int(%s)", text)
}

func isText(n ast.Node) bool { return n.Type() != nil && n.Type().Kind() == reflect.String }

func isNumber(n ast.Node) bool {
	return n.Type() != nil && (n.Type().Kind() == reflect.Int || n.Type().Kind() == reflect.Float64)
}

// conditionHint helps with what the message of the language alone tells.
func conditionHint(message, text string) string {
	if _, name, ok := strings.Cut(message, "unknown name "); ok {
		name, _, _ = strings.Cut(name, " ")
		if name == strings.ToUpper(name) {
			return fmt.Sprintf("put texts into quotes: %q", name)
		}
		return suggest(name, append(slices.Sorted(maps.Keys(environment)), builtins...))
	}
	switch {
	case strings.Contains(message, `Operator("=")`):
		return "compare with =="
	case strings.Contains(message, `Operator("&")`):
		return "write and, or &&"
	case strings.Contains(message, `Operator("|")`):
		return "write or, or ||"
	case strings.Contains(message, "token EOF"):
		return "something is missing at the end"
	case strings.Contains(message, "expected bool, but got string") && len(text) < 60 && !strings.Contains(text, "\n"):
		return fmt.Sprintf(`compare it with something, as in %s != ""`, text)
	case strings.Contains(message, "expected bool"):
		return `compare it with something, as in length > 1000`
	}
	return ""
}
