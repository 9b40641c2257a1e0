/// Rows in the form of ``PredicateVector/table(_:_:)``: sections 4, 9, 10 and 12 of the grammar.
package let expressionVectors: String = #"""
  # arguments
  a == %@ ⟨{"s": "x"}⟩ ⟹ a == "x" ⟦{"a": "x"} ✓⟧
  a == %@ ⟨{"i": 5}⟩ ⟹ a == 5 ⟦{"a": 5} ✓⟧
  a == %@ ⟨{"f": 1.5}⟩ ⟹ a == 1.5 ⟦{"a": 1.5} ✓⟧
  a == %@ ⟨{"b": true}⟩ ⟹ a == 1 ⟦{"a": true} ✓⟧
  a == %@ ⟨{"null": true}⟩ ⟹ a == <null> ⟦{} ✓; {"a": null} ✓; {"a": 0} ✗⟧
  a > %@ ⟨{"date": "2020-01-01T00:00:00Z"}⟩ ⟹ a > CAST(599529600.000000, "NSDate") ⟦{"a": {"$date": "2021-01-01T00:00:00Z"}} ✓; {"a": {"$date": "2019-01-01T00:00:00Z"}} ✗⟧
  a == %@ ⟨{"uuid": "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"}⟩ ⟹ a == E621E1F8-C36C-495A-93FC-0C247A3E6E5F
  a IN %@ ⟨{"array": [{"i": 1}, {"s": "x"}]}⟩ ⟹ a IN {1, "x"} ⟦{"a": "x"} ✓; {"a": 2} ✗⟧
  a IN %@ ⟨{"set": [{"i": 1}]}⟩ ⟹ a IN {1} ⟦{"a": 1} ✓⟧
  a IN %@ ⟨{"array": []}⟩ ⟹ a IN {} ⟦{"a": 1} ✗⟧
  a IN %@ ⟨{"dict": {"k": {"i": 1}}}⟩ ⟦{"a": 1} ✓; {"a": "k"} ✗⟧
  a BETWEEN %@ ⟨{"array": [{"i": 1}, {"i": 3}]}⟩ ⟹ a BETWEEN {1, 3} ⟦{"a": 2} ✓; {"a": 4} ✗⟧
  a BETWEEN {%@, %@} ⟨{"i": 1}, {"i": 3}⟩ ⟹ a BETWEEN {1, 3} ⟦{"a": 3} ✓⟧
  %@ IN a ⟨{"i": 1}⟩ ⟹ 1 IN a ⟦{"a": [1]} ✓⟧
  %@ == %@ ⟨{"i": 1}, {"i": 1}⟩ ⟹ 1 == 1 ⟦null ✓⟧
  %K == %@ ⟨{"key": "a.b"}, {"i": 1}⟩ ⟹ a.b == 1 ⟦{"a": {"b": 1}} ✓⟧
  %K == 1 ⟨{"key": "in"}⟩ ⟹ #in == 1 ⟦{"in": 1} ✓⟧
  %K == 1 ⟨{"key": "a.#all"}⟩ ⟦{"a": {"#all": 1}} ✓⟧
  %K == 1 ⟨{"key": "self"}⟩ ⟹ SELF == 1 ⟦1 ✓⟧
  %K == 1 ⟨{"key": "SELF"}⟩ ⟹ SELF == 1 ⟦1 ✓⟧
  %K == 1 ⟨{"key": "$x"}⟩ ⟹ $x == 1 ⟦{"$x": 1} ✓⟧
  %K.%K == 1 ⟨{"key": "a"}, {"key": "b"}⟩ ⟹ a.b == 1 ⟦{"a": {"b": 1}} ✓⟧
  a.%K.c == 1 ⟨{"key": "b"}⟩ ⟹ a.b.c == 1 ⟦{"a": {"b": {"c": 1}}} ✓⟧
  SELF.%K == 1 ⟨{"key": "b"}⟩ ⟹ b == 1 ⟦{"b": 1} ✓⟧
  %K.@count == 2 ⟨{"key": "a"}⟩ ⟹ a.@count == 2 ⟦{"a": [1, 2]} ✓⟧
  %K[0] == 1 ⟨{"key": "a"}⟩ ⟹ a[0] == 1 ⟦{"a": [1]} ✓⟧
  ANY %K.%K == 1 ⟨{"key": "a"}, {"key": "b"}⟩ ⟹ ANY a.b == 1 ⟦{"a": [{"b": 1}]} ✓⟧
  %K IN %@ ⟨{"key": "a"}, {"array": [{"i": 1}]}⟩ ⟹ a IN {1} ⟦{"a": 1} ✓⟧
  SUBQUERY(%K, $x, $x.%K == %d).@count == 1 ⟨{"key": "a"}, {"key": "b"}, {"i": 1}⟩ ⟹ SUBQUERY(a, $x, $x.b == 1).@count == 1 ⟦{"a": [{"b": 1}]} ✓⟧
  a == %d ⟨{"i": 5}⟩ ⟹ a == 5
  a == %i ⟨{"i": -5}⟩ ⟹ a == -5
  a == %u ⟨{"i": 5}⟩ ⟹ a == 5
  a == %x ⟨{"i": 31}⟩ ⟹ a == 31
  a == %o ⟨{"i": 8}⟩ ⟹ a == 8
  a == %ld ⟨{"i": 5}⟩ ⟹ a == 5
  a == %lu ⟨{"i": 5}⟩ ⟹ a == 5
  a == %lld ⟨{"i": 5}⟩ ⟹ a == 5
  a == %llu ⟨{"i": 5}⟩ ⟹ a == 5
  a == %hd ⟨{"i": 5}⟩ ⟹ a == 5
  a == %hhd ⟨{"i": 5}⟩ ⟹ a == 5
  a == %qi ⟨{"i": 5}⟩ ⟹ a == 5
  a == %zd ⟨{"i": 5}⟩ ⟹ a == 5
  a == %f ⟨{"f": 1.5}⟩ ⟹ a == 1.5
  a == %lf ⟨{"f": 1.5}⟩ ⟹ a == 1.5
  a == %e ⟨{"f": 1.5}⟩ ⟹ a == 1.5
  a == %g ⟨{"f": 2.0}⟩ ⟹ a == 2
  a == %a ⟨{"f": 1.5}⟩ ⟹ a == 1.5
  a == %Lf ⟨{"f": 1.5}⟩ ⟹ a == 1.5
  a == -%d ⟨{"i": 5}⟩ ⟹ a == -(5)
  a == %d + %d ⟨{"i": 1}, {"i": 2}⟩ ⟹ a == 1 + 2 ⟦{"a": 3} ✓⟧
  a[%d] == 1 ⟨{"i": 0}⟩ ⟹ a[0] == 1 ⟦{"a": [1]} ✓⟧
  a == %c ⟨{"s": "A"}⟩ ⟹ a == 65
  a == %s ⟨{"s": "x"}⟩ ⟹ a == "x"
  a == 1 ⟨{"i": 5}, {"i": 6}⟩ ⟹ a == 1
  a LIKE %@ ⟨{"s": "x*"}⟩ ⟹ a LIKE "x*" ⟦{"a": "xyz"} ✓⟧
  a MATCHES %@ ⟨{"s": "\\d+"}⟩ ⟹ a MATCHES "\\d+" ⟦{"a": "123"} ✓⟧
  a == %@ ⟨{"s": "say \"hi\""}⟩ ⟹ a == "say \"hi\"" ⟦{"a": "say \"hi\""} ✓⟧
  a == '%@' ⟨{"s": "x"}⟩ ⟹ a == "%@" ⟦{"a": "x"} ✗⟧
  %@ LIKE %@ ⟨{"s": "name"}, {"s": "n*"}⟩ ⟹ "name" LIKE "n*" ⟦null ✓⟧
  ✘ a == %@
  ✘ a == %d AND b == %@ ⟨{"i": 1}⟩
  ✘ a == %d ⟨{"s": "x"}⟩
  ✘ %K == 1 ⟨{"i": 1}⟩
  ✘ %K == 1
  ✘ %k == 1 ⟨{"key": "a"}⟩
  ✘ a == %1$@ ⟨{"i": 1}⟩
  ✘ a == %p ⟨{"i": 1}⟩
  ✘ a == %n ⟨{"i": 1}⟩
  ✘ a == %% ⟨{"i": 1}⟩
  ✘ a == %
  ✘ a == %y ⟨{"i": 1}⟩
  ✘ a == %5d ⟨{"i": 1}⟩
  ✘ a == %.2f ⟨{"f": 1.5}⟩
  ✘ a LIKE %@* ⟨{"s": "x"}⟩
  ✘ a LIKE *%@* ⟨{"s": "x"}⟩
  ✘ a %@ 1 ⟨{"s": "=="}⟩
  ✘ %@ ⟨{"s": "a == 1"}⟩
  # key paths
  a.b.c == 1 ⟹ a.b.c == 1 ⟦{"a": {"b": {"c": 1}}} ✓; {"a": {}} ✗⟧
  a . b == 1 ⟹ a.b == 1 ⟦{"a": {"b": 1}} ✓⟧
  SELF.a == 1 ⟹ a == 1 ⟦{"a": 1} ✓⟧
  self.a.b == 1 ⟹ a.b == 1 ⟦{"a": {"b": 1}} ✓⟧
  a.b == nil ⟦{"a": {}} ✓; {} ✓; {"a": {"b": 0}} ✗⟧
  a.b == {1, 2} ⟦{"a": [{"b": 1}, {"b": 2}]} ✓⟧
  2 IN a.b ⟦{"a": [{"b": 1}, {"b": 2}]} ✓; {"a": [{"b": 1}]} ✗⟧
  a.length == 3 ⟦{"a": "abc"} ✓; {"a": "é"} ✗⟧
  a.uppercaseString == 'ABC' ⟦{"a": "abc"} ✓⟧
  a.intValue == 12 ⟦{"a": "12 monkeys"} ✓; {"a": 12.9} ✓⟧
  a.doubleValue == 1.5 ⟦{"a": "1.5x"} ✓⟧
  a.boolValue == YES ⟦{"a": "yes"} ✓; {"a": 2} ✓; {"a": "no"} ✗⟧
  a.lastPathComponent == 'c.txt' ⟦{"a": "/b/c.txt"} ✓; {"a": "c.txt"} ✓⟧
  a.pathExtension == 'txt' ⟦{"a": "/b/c.txt"} ✓; {"a": "txt"} ✗⟧
  a.timeIntervalSince1970 == 0 ⟦{"a": {"$date": "1970-01-01T00:00:00Z"}} ✓⟧
  a.nonsense == 1 ⟦{"a": "abc"} ⚡; {"a": 5} ⚡⟧
  # collection operators
  a.@count == 2 ⟹ a.@count == 2 ⟦{"a": [1, 2]} ✓; {"a": {"$set": [1]}} ✗; {"a": 5} ⚡; {} ✗⟧
  @count == 2 ⟹ @count == 2 ⟦[1, 2] ✓; [] ✗⟧
  SELF.@count == 0 ⟹ @count == 0 ⟦[] ✓⟧
  a.@sum.b == 3 ⟹ a.@sum.b == 3 ⟦{"a": [{"b": 1}, {"b": 2}]} ✓; {"a": [{"b": 3}, {}]} ✓; {"a": [{"b": "x"}]} ⚡⟧
  a.@sum.b == 0 ⟦{"a": []} ✓⟧
  a.@avg.b == 2 ⟹ a.@avg.b == 2 ⟦{"a": [{"b": 1}, {"b": 3}]} ✓⟧
  a.@avg.b == 1.5 ⟦{"a": [{"b": 1}, {"b": 2}]} ✓⟧
  a.@avg.b == 0 ⟦{"a": []} ✓⟧
  a.@min.b == 1 ⟹ a.@min.b == 1 ⟦{"a": [{"b": 1}, {"b": 3}]} ✓; {"a": [{"b": 1}, {}]} ✓⟧
  a.@max.b == 3 ⟹ a.@max.b == 3 ⟦{"a": [{"b": 1}, {"b": 3}]} ✓⟧
  a.@max.b == nil ⟦{"a": []} ✓; {"a": [{}]} ✓⟧
  a.@max.b == 'z' ⟦{"a": [{"b": "a"}, {"b": "z"}]} ✓⟧
  a.@max.#self == 3 ⟹ a.@max.#self == 3 ⟦{"a": [1, 3, 2]} ✓⟧
  a.@sum.#self > 5 ⟹ a.@sum.#self > 5 ⟦{"a": [1, 2, 3]} ✓⟧
  a.@unionOfObjects.b == {1, 1} ⟦{"a": [{"b": 1}, {"b": 1}, {}]} ✓⟧
  a.@distinctUnionOfObjects.b == {1} ⟦{"a": [{"b": 1}, {"b": 1}, {}]} ✓⟧
  count(a.@distinctUnionOfObjects.b) == 2 ⟦{"a": [{"b": 1}, {"b": 2}, {"b": 1}]} ✓⟧
  a.@unionOfArrays.b == {1, 2, 2} ⟦{"a": [{"b": [1, 2]}, {"b": [2]}]} ✓⟧
  count(a.@distinctUnionOfArrays.b) == 2 ⟦{"a": [{"b": [1, 2]}, {"b": [2]}]} ✓⟧
  count(a.@distinctUnionOfSets.b) == 2 ⟦{"a": {"$set": [{"b": {"$set": [1, 2]}}, {"b": {"$set": [2]}}]}} ✓⟧
  a.@sum.b.c == 3 ⟦{"a": [{"b": {"c": 1}}, {"b": {"c": 2}}]} ✓⟧
  a.b.@sum.c == 3 ⟦{"a": {"b": [{"c": 1}, {"c": 2}]}} ✓⟧
  a.@unionOfObjects.b.@count == 1 ⟦{"a": [{"b": "x"}]} ⚡⟧
  a.@count.b == 1 ⟦{"a": [1]} ⚡⟧
  a.@nonsense.b == 1 ⟦{"a": [1]} ⚡⟧
  # indexes
  a[0] == 1 ⟹ a[0] == 1 ⟦{"a": [1, 2]} ✓; {"a": [2]} ✗; {} ✗; {"a": []} ✗; {"a": 5} ⚡⟧
  a[FIRST] == 1 ⟹ a[FIRST] == 1 ⟦{"a": [1, 2]} ✓; {"a": []} ✗⟧
  a[first] == nil ⟹ a[FIRST] == nil ⟦{"a": []} ✓⟧
  a[LAST] == 2 ⟹ a[LAST] == 2 ⟦{"a": [1, 2]} ✓⟧
  a[Size] == 2 ⟹ a[SIZE] == 2 ⟦{"a": [1, 2]} ✓; {"a": {"x": 1, "y": 2}} ✓⟧
  a['k'] == 1 ⟹ a["k"] == 1 ⟦{"a": {"k": 1}} ✓; {"a": {}} ✗⟧
  a[b] == 1 ⟹ a[b] == 1 ⟦{"a": [0, 1], "b": 1} ✓; {"a": {"k": 1}, "b": "k"} ✓⟧
  a[b + 1] == 1 ⟹ a[b + 1] == 1 ⟦{"a": [0, 1], "b": 0} ✓⟧
  a[0][1] == 2 ⟹ a[0][1] == 2 ⟦{"a": [[1, 2]]} ✓⟧
  a[0].b == 1 ⟹ a[0].b == 1 ⟦{"a": [{"b": 1}]} ✓⟧
  a[LAST].b.c == 1 ⟹ a[LAST].b.c == 1 ⟦{"a": [0, {"b": {"c": 1}}]} ✓⟧
  (a.b)[0] == 1 ⟹ (a.b)[0] == 1 ⟦{"a": {"b": [1]}} ✓⟧
  a.b[0] == 1 ⟹ a.b[0] == 1 ⟦{"a": {"b": [1]}} ⚡⟧
  SELF[1] == 2 ⟹ SELF[1] == 2 ⟦[1, 2] ✓⟧
  SELF['a'] == 2 ⟹ SELF["a"] == 2 ⟦{"a": 2} ✓⟧
  {1, 2, 3}[1] == 2 ⟹ {1, 2, 3}[1] == 2 ⟦null ✓⟧
  {1, 2, 3}[LAST] == 3 ⟹ {1, 2, 3}[LAST] == 3 ⟦null ✓⟧
  {}[SIZE] == 0 ⟹ {}[SIZE] == 0 ⟦null ✓⟧
  {1}[-1] == 1 ⟹ {1}[-1] == 1 ⟦null ✗⟧
  a[1.5] == 1 ⟦{"a": [1, 2, 3]} ✗⟧
  objectFrom:withIndex:(a, 1) == 2 ⟹ a[1] == 2 ⟦{"a": [1, 2]} ✓⟧
  ✘ a[] == 1
  ✘ a[0 == 1
  ✘ a[1, 2] == 1
  ✘ [0] == 1
  # aggregates and set operators
  a == {} ⟹ a == {} ⟦{"a": []} ✓; {"a": [1]} ✗⟧
  a == {1, 'x', {2, 3}} ⟹ a == {1, "x", {2, 3}} ⟦{"a": [1, "x", [2, 3]]} ✓⟧
  { 1 , 2 } == a ⟹ {1, 2} == a ⟦{"a": [1, 2]} ✓⟧
  {a, b}[SIZE] == 2 ⟹ {a, b}[SIZE] == 2 ⟦{} ✓⟧
  1 IN a UNION b ⟹ 1 IN a UNION b ⟦{"a": {"$set": []}, "b": [1]} ✓; {"a": [1], "b": [1]} ⚡; {"a": {"$set": [1]}, "b": 1} ⚡⟧
  1 IN a intersect b ⟹ 1 IN a INTERSECT b ⟦{"a": {"$set": [1, 2]}, "b": [2]} ✗; {"a": {"$set": [1, 2]}, "b": [1]} ✓⟧
  1 IN a Minus b ⟹ 1 IN a MINUS b ⟦{"a": {"$set": [1, 2]}, "b": [2]} ✓; {"a": {"$set": [1, 2]}, "b": [1]} ✗⟧
  1 IN (a UNION b) MINUS c ⟹ 1 IN (a UNION b) MINUS c ⟦{"a": {"$set": [1]}, "b": [2], "c": [2]} ✓⟧
  (a UNION b).@count == 2 ⟹ (a UNION b).@count == 2 ⟦{"a": {"$set": [1]}, "b": [1, 2]} ✓⟧
  ✘ {1, 2 == a
  ✘ {1 2} == a
  ✘ {1,} == a
  ✘ {,} == a
  ✘ {a == 1} == b
  # variables
  $x == 1 ⟹ $x == 1 ⟦null ⚡⟧
  $x.a.b == 1 ⟹ $x.a.b == 1
  $x[0].a == 1 ⟹ $x[0].a == 1
  $x[$i] == 1 ⟹ $x[$i] == 1
  $x.$key == 1 ⟹ $x.$key == 1
  $X == 1 AND $x == 2 ⟹ $X == 1 AND $x == 2
  a IN $list ⟹ a IN $list
  a BETWEEN {$low, $high} ⟹ a BETWEEN {$low, $high}
  $x.@count == 1 ⟹ $x.@count == 1
  ($x := 5) == a ⟹ ($x := 5) == a ⟦{"a": 5} ✓; {"a": 4} ✗⟧
  ($x := a) > 1 AND $x < 5 ⟹ ($x := a) > 1 AND $x < 5 ⟦{"a": 3} ✓; {"a": 7} ✗⟧
  ✘ $ == 1
  ✘ $1 == 1
  ✘ $x y == 1
  # SUBQUERY
  SUBQUERY(a, $x, $x > 1).@count == 2 ⟹ SUBQUERY(a, $x, $x > 1).@count == 2 ⟦{"a": [1, 2, 3]} ✓; {"a": {"$set": [2, 3]}} ✓; {} ✗; {"a": 5} ⚡⟧
  subquery(a, $x, $x.b == 1 AND $x.c == 2).@count > 0 ⟹ SUBQUERY(a, $x, $x.b == 1 AND $x.c == 2).@count > 0 ⟦{"a": [{"b": 1, "c": 2}]} ✓; {"a": [{"b": 1}, {"c": 2}]} ✗⟧
  SUBQUERY(a, $x, $x.b == b).@count == 1 ⟦{"a": [{"b": 1}, {"b": 2}], "b": 2} ✓⟧
  SUBQUERY(a, $x, SUBQUERY($x.b, $y, $y > $x.c).@count > 0).@count == 1 ⟦{"a": [{"b": [1, 5], "c": 3}, {"b": [1], "c": 3}]} ✓⟧
  SUBQUERY(a, $x, SUBQUERY($x, $x, $x > 1).@count == 1).@count == 1 ⟦{"a": [[1, 2], [1]]} ✓⟧
  SUBQUERY(a, $x, $x > 1)[SIZE] == 1 ⟹ SUBQUERY(a, $x, $x > 1)[SIZE] == 1 ⟦{"a": [1, 2]} ✓⟧
  SUBQUERY(a, $x, $x.b > 1)[FIRST].b == 2 ⟹ SUBQUERY(a, $x, $x.b > 1)[FIRST].b == 2 ⟦{"a": [{"b": 1}, {"b": 2}]} ✓⟧
  SUBQUERY(a, $x, $x.b > 1).b == {2, 3} ⟦{"a": [{"b": 2}, {"b": 1}, {"b": 3}]} ✓⟧
  SUBQUERY(a, $x, $x.b > 1).@sum.b == 5 ⟦{"a": [{"b": 2}, {"b": 1}, {"b": 3}]} ✓⟧
  ANY SUBQUERY(a, $x, $x.b > 1).c == 1 ⟦{"a": [{"b": 2, "c": 1}]} ✓; {"a": [{"b": 0, "c": 1}]} ✗⟧
  SUBQUERY(a, $x, TRUEPREDICATE).@count == 2 ⟦{"a": [1, 2]} ✓⟧
  SUBQUERY(a, $x, $x == $y).@count == 0 ⟦{"a": [1]} ⚡⟧
  count(SUBQUERY(a, $x, $x > 1)) == 1 ⟦{"a": [1, 2]} ✓⟧
  ✘ SUBQUERY(a, $x) == 1
  ✘ SUBQUERY(a, x, x == 1).@count == 1
  ✘ SUBQUERY(a, $x, b).@count == 1
  ✘ SUBQUERY(a, $x, $x == 1
  ✘ SUBQUERY(a, $x, $x == 1, 2).@count == 1
  # TERNARY
  TERNARY(a == 1, 2, 3) == 2 ⟹ TERNARY(a == 1, 2, 3) == 2 ⟦{"a": 1} ✓; {"a": 2} ✗⟧
  ternary(a == nil, 0, a) + 1 == 1 ⟹ TERNARY(a == nil, 0, a) + 1 == 1 ⟦{} ✓; {"a": 0} ✓; {"a": 1} ✗⟧
  TERNARY(a > 0 AND b > 0, a, b).c == 1 ⟹ TERNARY(a > 0 AND b > 0, a, b).c == 1
  TERNARY(a == 0, 0, 1 / a) == 0 ⟦{"a": 0} ✓⟧
  TERNARY(a == 1, 'x', TERNARY(a == 2, 'y', 'z')) == 'z' ⟦{"a": 3} ✓; {"a": 2} ✗⟧
  TERNARY(NOT a == 1, 2, 3) == 3 ⟦{"a": 1} ✓⟧
  ✘ TERNARY(a, 1, 2) == 1
  ✘ TERNARY(a == 1, 2) == 1
  ✘ TERNARY(a == 1, 2, 3, 4) == 1
  ✘ TERNARY(a == 1, b == 2, 3) == 1
  # CAST
  CAST(a, 'NSDate') == b ⟹ CAST(a, "NSDate") == b ⟦{"a": 0, "b": {"$date": "2001-01-01T00:00:00Z"}} ✓; {"a": "2001-01-01T00:00:00Z", "b": {"$date": "2001-01-01T00:00:00Z"}} ✓; {} ✓⟧
  CAST(a, 'NSNumber') == 60 ⟹ CAST(a, "NSNumber") == 60 ⟦{"a": {"$date": "2001-01-01T00:01:00Z"}} ✓; {"a": "60"} ✓; {"a": 60} ✓; {} ✗⟧
  CAST(a, 'NSDecimalNumber') == 1.5 ⟦{"a": "1.5"} ✓⟧
  CAST(a, 'NSString') == '42' ⟹ CAST(a, "NSString") == "42" ⟦{"a": 42} ✓; {"a": 42.0} ✓; {"a": "42"} ✓; {"a": 42.5} ✗⟧
  cast(a, "NSString") LIKE '4*' ⟹ CAST(a, "NSString") LIKE "4*" ⟦{"a": 42} ✓⟧
  CAST(a, 'NSString').length == 2 ⟦{"a": 42} ✓⟧
  castObject:toType:(a, 'NSNumber') == 1 ⟹ CAST(a, "NSNumber") == 1 ⟦{"a": "1"} ✓⟧
  a == CAST(599529600.000000, "NSDate") ⟹ a == CAST(599529600.000000, "NSDate") ⟦{"a": {"$date": "2020-01-01T00:00:00Z"}} ✓⟧
  a == CAST(-3600.000000, "NSDate") ⟹ a == CAST(-3600.000000, "NSDate") ⟦{"a": {"$date": "2000-12-31T23:00:00Z"}} ✓⟧
  CAST(a, 'Nonsense') == 1 ⟦{"a": 1} ⚡⟧
  ✘ CAST(a) == 1
  ✘ CAST(a, NSDate) == 1
  ✘ CAST(a, 'NSDate', 1) == 1
  # FUNCTION
  FUNCTION(a, 'uppercaseString') == 'X' ⟹ FUNCTION(a, "uppercaseString") == "X" ⟦{"a": "x"} ✓; {} ✗⟧
  FUNCTION(a, 'stringByAppendingString:', b) == 'xy' ⟹ FUNCTION(a, "stringByAppendingString:" , b) == "xy" ⟦{"a": "x", "b": "y"} ✓⟧
  FUNCTION(a, 'stringByReplacingOccurrencesOfString:withString:', 'l', 'r') == 'herro' ⟹ FUNCTION(a, "stringByReplacingOccurrencesOfString:withString:" , "l", "r") == "herro" ⟦{"a": "hello"} ✓⟧
  function(a, "length") == 3 ⟹ FUNCTION(a, "length") == 3 ⟦{"a": "abc"} ✓⟧
  FUNCTION(a, 'hasPrefix:', 'x') == YES ⟦{"a": "xy"} ✓; {"a": "yx"} ✗⟧
  FUNCTION(a, 'dateByAddingTimeInterval:', 60) == b ⟦{"a": {"$date": "2001-01-01T00:00:00Z"}, "b": {"$date": "2001-01-01T00:01:00Z"}} ✓⟧
  FUNCTION(a, 'timeIntervalSinceDate:', b) == 60 ⟦{"b": {"$date": "2001-01-01T00:00:00Z"}, "a": {"$date": "2001-01-01T00:01:00Z"}} ✓⟧
  FUNCTION(a, 'valueForKey:', 'b') == 1 ⟦{"a": {"b": 1}} ✓⟧
  FUNCTION(a, 'objectForKey:', b) == 1 ⟦{"a": {"k": 1}, "b": "k"} ✓⟧
  FUNCTION(SELF, 'containsObject:', 2) == 1 ⟦[1, 2] ✓⟧
  FUNCTION(FUNCTION(a, 'uppercaseString'), 'length') == 3 ⟹ FUNCTION(FUNCTION(a, "uppercaseString"), "length") == 3 ⟦{"a": "abc"} ✓⟧
  FUNCTION(a, 'uppercaseString').length == 3 ⟹ FUNCTION(a, "uppercaseString").length == 3 ⟦{"a": "abc"} ✓⟧
  FUNCTION(a, 'nobodyKnows:', 1) == 1 ⟹ FUNCTION(a, "nobodyKnows:" , 1) == 1 ⟦{"a": "x"} ⚡⟧
  ✘ FUNCTION(a) == 1
  ✘ FUNCTION() == 1
  ✘ FUNCTION(a, uppercaseString) == 1
  ✘ FUNCTION(a, 1) == 1
  ✘ FUNCTION(a, 'x',) == 1
  ✘ FUNCTION(a, 'x' == 1
  # custom operators
  a isEqual: b ⟹ a isEqual: b ⟦{"a": 1, "b": 1} ✓; {"a": 1, "b": 2} ✗⟧
  a hasPrefix: 'x' ⟹ a hasPrefix: "x" ⟦{"a": "xy"} ✓; {"a": "y"} ✗; {} ✗⟧
  ANY a hasPrefix: 'x' ⟹ ANY a hasPrefix: "x" ⟦{"a": ["y", "xy"]} ✓⟧
  NOT a hasPrefix: 'x' ⟹ NOT a hasPrefix: "x" ⟦{"a": "y"} ✓⟧
  a nobodyKnows: 1 ⟹ a nobodyKnows: 1 ⟦{"a": 1} ⚡⟧
  # FETCH and ANYKEY
  FETCH($r, $c, NO).@count == 0 ⟹ FETCH($r, $c, 0).@count == 0
  FETCH(a, b, YES) == 1 ⟹ FETCH(a, b, 1) == 1 ⟦{"a": 1, "b": 2} ⚡⟧
  ANYKEY == 'x' ⟹ ANYKEY == "x" ⟦{"a": "x"} ⚡⟧
  ✘ FETCH(a, b) == 1
  # functions
  sum(a) == 6 ⟹ sum:(a) == 6 ⟦{"a": [1, 2, 3]} ✓; {"a": []} ✗; {"a": ["x"]} ⚡⟧
  sum:(a) == 0 ⟹ sum:(a) == 0 ⟦{"a": []} ✓⟧
  average({1, 2}) == 1.5 ⟹ average:({1, 2}) == 1.5 ⟦null ✓⟧
  min({3, 1, 2}) == 1 AND max({3, 1, 2}) == 3 ⟹ min:({3, 1, 2}) == 1 AND max:({3, 1, 2}) == 3 ⟦null ✓⟧
  count(a) == 2 ⟹ count:(a) == 2 ⟦{"a": [1, 2]} ✓; {"a": {"$set": [1, 2]}} ✓; {"a": 5} ⚡⟧
  median({1, 2, 3, 4}) == 2.5 ⟦null ✓⟧
  mode({1, 2, 2, 3, 3}) == {2, 3} ⟦null ✓⟧
  stddev({2, 4, 4, 4, 5, 5, 7, 9}) == 2 ⟹ stddev:({2, 4, 4, 4, 5, 5, 7, 9}) == 2 ⟦null ✓⟧
  modulus:by:(7, 3) == 1 ⟹ modulus:by:(7, 3) == 1 ⟦null ✓⟧
  modulus:by:(-7, 3) == -1 ⟦null ✓⟧
  from:subtract:(5, 3) == 2 ⟹ 5 - 3 == 2 ⟦null ✓⟧
  multiply:by:(5, 3) == 15 ⟹ 5 * 3 == 15 ⟦null ✓⟧
  divide:by:(7, 2) == 3 ⟹ 7 / 2 == 3 ⟦null ✓⟧
  raise:toPower:(2, 10) == 1024 ⟹ 2 ** 10 == 1024 ⟦null ✓⟧
  sqrt(16) == 4 ⟹ sqrt:(16) == 4 ⟦null ✓⟧
  exp(0) == 1 ⟹ exp:(0) == 1 ⟦null ✓⟧
  log(1000) == 3 ⟹ log:(1000) == 3 ⟦null ✓⟧
  ln(1) == 0 ⟹ ln:(1) == 0 ⟦null ✓⟧
  floor(-1.5) == -2 AND ceiling(-1.5) == -1 AND trunc(-1.5) == -1 ⟦null ✓⟧
  abs(-3) == 3 ⟹ abs:(-3) == 3 ⟦null ✓⟧
  abs(a) == 3 ⟦{"a": -3} ✓; {"a": "x"} ⚡; {} ✗⟧
  random() >= 0 ⟹ random() >= 0 ⟦null ✓⟧
  randomn(1) == 0 ⟹ randomn:(1) == 0 ⟦null ✓⟧
  now() > CAST(0, 'NSDate') ⟹ now() > CAST(0, "NSDate") ⟦null ✓⟧
  lowercase(a) == 'straße' ⟹ lowercase:(a) == "straße" ⟦{"a": "STRAßE"} ✓⟧
  uppercase('é') == 'É' ⟹ uppercase:("é") == "É" ⟦null ✓⟧
  length('👍') == 2 ⟹ length:("👍") == 2 ⟦null ✓⟧
  bitwiseAnd:with:(6, 3) == 2 ⟹ 6 & 3 == 2 ⟦null ✓⟧
  bitwiseOr:with:(6, 3) == 7 ⟹ 6 | 3 == 7 ⟦null ✓⟧
  bitwiseXor:with:(6, 3) == 5 ⟹ 6 ^ 3 == 5 ⟦null ✓⟧
  leftshift:by:(1, 4) == 16 ⟹ 1 << 4 == 16 ⟦null ✓⟧
  rightshift:by:(16, 4) == 1 ⟹ 16 >> 4 == 1 ⟦null ✓⟧
  onesComplement(0) == -1 ⟹ onesComplement:(0) == -1 ⟦null ✓⟧
  noindex(a) == 1 ⟹ noindex:(a) == 1 ⟦{"a": 1} ✓⟧
  noindex:(a.b) BEGINSWITH 'x' ⟹ noindex:(a.b) BEGINSWITH "x" ⟦{"a": {"b": "xy"}} ✓⟧
  distanceToLocation:fromLocation:(a, b) == 0 ⟹ distanceToLocation:fromLocation:(a, b) == 0 ⟦{"a": {"latitude": 1, "longitude": 2}, "b": {"latitude": 1, "longitude": 2}} ✓; {"a": 1, "b": 2} ⚡⟧
  max(a.b) == 2 ⟹ max:(a.b) == 2 ⟦{"a": [{"b": 1}, {"b": 2}]} ✓⟧
  abs(floor(-1.5)) + 1 == 3 ⟹ abs:(floor:(-1.5)) + 1 == 3 ⟦null ✓⟧
  length(uppercase(a)) == 2 ⟦{"a": "xy"} ✓⟧
  ✘ nosuch(a) == 1
  ✘ nosuch:(a) == 1
  ✘ sum() == 1
  ✘ sum(a, b) == 1
  ✘ add:to:(1) == 1
  ✘ add(1, 2) == 3
  ✘ now(1) == 1
  ✘ random:(1) == 1
  ✘ SUM(a) == 1
  ✘ sum(a == 1) == 1
  ✘ sum(a == 1
  """#
