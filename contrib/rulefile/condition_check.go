package rulefile

import (
	"fmt"
	"net/netip"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
)

// checker looks at a parsed expression before it is compiled: it refuses what could
// take long or fail late, and notes what the expression needs.
type checker struct {
	uses     uint
	prefixes map[string]netip.Prefix
	hints    map[file.Location]string // by where something may be wrong
	err      *file.Error
}

// Visit is called for every part of the expression.
func (c *checker) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		c.identifier(n)
	case *ast.CallNode:
		c.call(n)
	case *ast.BinaryNode:
		c.compared(n)
		c.binary(n)
	case *ast.MemberNode:
		c.member(n)
	case *ast.BuiltinNode, *ast.PredicateNode, *ast.PointerNode:
		c.refuseLoop(*node)
	}
}

func (c *checker) fail(at ast.Node, format string, args ...any) {
	if c.err == nil {
		c.err = &file.Error{Location: at.Location(), Message: fmt.Sprintf(format, args...)}
	}
}

func (c *checker) identifier(n *ast.IdentifierNode) {
	if n.Value == "$env" {
		c.fail(n, "$env is not supported: name the variable")
	}
	for i, v := range variables {
		if v.name == n.Value {
			c.uses |= 1 << i
		}
	}
}

// refuseLoop allows the functions of the list only.
func (c *checker) refuseLoop(n ast.Node) {
	if b, ok := n.(*ast.BuiltinNode); ok {
		for _, name := range builtins {
			if b.Name == name {
				return
			}
		}
		c.fail(n, "the function %s is not supported", b.Name)
		return
	}
	c.fail(n, "loops are not supported")
}

// call reads the prefixes of in_cidr.
func (c *checker) call(n *ast.CallNode) {
	name, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		if member, ok := n.Callee.(*ast.MemberNode); ok {
			c.method(n, member)
		}
		c.fail(n, "only functions can be called")
		return
	}
	if name.Value != "in_cidr" || len(n.Arguments) != 2 {
		return
	}
	text, ok := n.Arguments[1].(*ast.StringNode)
	if !ok {
		c.fail(n.Arguments[1], `the prefix has to be written out: in_cidr(ip, "10.0.0.0/8")`)
		return
	}
	prefix, err := netip.ParsePrefix(text.Value)
	if err != nil {
		c.fail(text, "%q is no prefix such as 10.0.0.0/8 or 2001:db8::/32", text.Value)
		return
	}
	c.prefixes[text.Value] = prefix
}

// binary refuses operators whose cost a client could choose.
func (c *checker) binary(n *ast.BinaryNode) {
	switch n.Operator {
	case "matches":
		if _, ok := n.Right.(*ast.StringNode); !ok {
			c.fail(n.Right, "the pattern has to be written out: path matches \"^/v[0-9]+/\"")
		}
	case "..":
		c.fail(n, "ranges are not supported")
	case "**", "^":
		c.fail(n, "powers are not supported")
	}
}
