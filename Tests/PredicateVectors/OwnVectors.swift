/// Vectors in the form of the shared ones, so that the tests mean something without them.
package let ownVectors: String = #"""
  [
  {"id": "o-1", "topic": "compare", "format": "age > %d", "args": [{"i": 30}],
   "expect": {"parses": true, "predicateFormat": "age > 30", "evaluations": [
    {"object": {"age": 31}, "result": true}, {"object": {"age": 30}, "result": false}, {"object": {}, "result": false}]}},
  {"id": "o-2", "topic": "compare", "format": "a == 9007199254740993", "args": [],
   "expect": {"parses": true, "evaluations": [
    {"object": {"a": 9007199254740993}, "result": true}, {"object": {"a": 9007199254740992}, "result": false}]}},
  {"id": "o-3", "topic": "compound", "format": "a = 1 and not b = 2 or c = 3", "args": [],
   "expect": {"parses": true, "predicateFormat": "(a == 1 AND (NOT b == 2)) OR c == 3", "evaluations": [
    {"object": {"a": 1}, "result": true}, {"object": {"a": 1, "b": 2}, "result": false},
    {"object": {"c": 3}, "result": true}]}},
  {"id": "o-4", "topic": "index", "format": "a.d[0] == 1", "args": [],
   "expect": {"parses": true, "predicateFormat": "a.d[0] == 1", "evaluations": [
    {"object": {"a": {"d": [1]}}, "raises": true}]}},
  {"id": "o-5", "topic": "index", "format": "(a.d)[0] == 1", "args": [],
   "expect": {"parses": true, "predicateFormat": "(a.d)[0] == 1", "evaluations": [
    {"object": {"a": {"d": [1]}}, "result": true}, {"object": {"a": {"d": []}}, "result": false}]}},
  {"id": "o-6", "topic": "quantifier", "format": "ALL a == 1", "args": [],
   "expect": {"parses": true, "evaluations": [{"object": {}, "result": true}, {"object": {"a": [2]}, "result": false}]}},
  {"id": "o-7", "topic": "like", "format": "a LIKE[c] '*ß?'", "args": [],
   "expect": {"parses": true, "evaluations": [
    {"object": {"a": "STRASSE"}, "result": true}, {"object": {"a": "Straß"}, "result": false}]}},
  {"id": "o-8", "topic": "matches", "format": "a MATCHES 'x|xy'", "args": [],
   "expect": {"parses": true, "evaluations": [
    {"object": {"a": "xy"}, "result": true}, {"object": {"a": "xyz"}, "result": false}]}},
  {"id": "o-9", "topic": "keypath", "format": "a.in == 1", "args": [], "expect": {"parses": false}},
  {"id": "o-10", "topic": "keypath", "format": "%K == 1", "args": [{"s": "a.in"}],
   "expect": {"parses": true, "predicateFormat": "a.#in == 1", "evaluations": [
    {"object": {"a": {"in": 1}}, "result": true}]}},
  {"id": "o-11", "topic": "arith", "format": "-a - -1 == -(b + 1)", "args": [],
   "expect": {"parses": true, "predicateFormat": "(-a) - -1 == -(b + 1)", "evaluations": [
    {"object": {"a": 5, "b": 3}, "raises": false, "result": true}]}},
  {"id": "o-12", "topic": "collop", "format": "c.@count.x == 1", "args": [],
   "expect": {"parses": true, "evaluations": [{"object": {"c": []}, "raises": true}]}},
  {"id": "o-13", "topic": "string", "format": "a CONTAINS[c] 'E'", "args": [],
   "expect": {"parses": true, "evaluations": [
    {"object": {"a": "caf\u00e9"}, "result": false}, {"object": {"a": "CAFE\u0301"}, "result": false},
    {"object": {"a": "cafe"}, "result": true}]}},
  {"id": "o-14", "topic": "compare", "format": "a == 'caf\u00e9'", "args": [],
   "expect": {"parses": true, "evaluations": [
    {"object": {"a": "cafe\u0301"}, "result": false}, {"object": {"a": "caf\u00e9"}, "result": true}]}},
  {"id": "o-15", "topic": "parse-error", "format": "a == 1 -- 2", "args": [], "expect": {"parses": false}},
  {"id": "o-16", "topic": "setexpr", "format": "(SUBQUERY(s, $x, $x > 1) MINUS b)[SIZE] == 1", "args": [],
   "expect": {"parses": true, "evaluations": [
    {"object": {"s": {"$set": [1, 2, 3]}, "b": [3]}, "result": true}]}},
  {"id": "o-17", "topic": "cast", "format": "when == CAST(-1.500000, 'NSDate')", "args": [],
   "expect": {"parses": true, "predicateFormat": "when == CAST(-1.500000, \"NSDate\")"}},
  {"id": "o-18", "topic": "quantifier", "format": "ANY depts.staff.age > 60", "args": [],
   "expect": {"parses": true, "evaluations": [
    {"object": {"depts": {"$set": [{"staff": {"$set": [{"age": 61}]}}, {"staff": {"$set": []}}]}}, "result": true},
    {"object": {"depts": {"$set": [{"staff": {"$set": [{"age": 6}]}}]}}, "result": false}]}},
  {"id": "o-19", "topic": "cast", "format": "castObject:toType:(a, b) == 1", "args": [],
   "expect": {"parses": true, "predicateFormat": "castObject:toType:(a, b) == 1"}},
  {"id": "o-20", "topic": "cast", "format": "when == castObject:toType:(1.234567, 'NSDate')", "args": [],
   "expect": {"parses": true, "predicateFormat": "when == castObject:toType:(1.234567, \"NSDate\")"}},
  {"id": "o-21", "topic": "custom", "format": "m #in: 2 AND m #size:in: 2", "args": [],
   "expect": {"parses": true, "predicateFormat": "m #in: 2 AND m #size:in: 2"}}
  ]
  """#
