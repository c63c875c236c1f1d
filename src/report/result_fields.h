#pragma once
#include "config/fields.h"
#include "metrics/result.h"

// One description of the result document: written, read back, and documented by it.
namespace kvsim::metrics {

void fields(config::FieldVisitor& v, Summary& s);
void fields(config::FieldVisitor& v, Intervals& i);
void fields(config::FieldVisitor& v, KvSummary& kv);
void fields(config::FieldVisitor& v, EngineResult& e);
void fields(config::FieldVisitor& v, Cost& c);
void fields(config::FieldVisitor& v, Overload& o);
void fields(config::FieldVisitor& v, Verdict& verdict);
void fields(config::FieldVisitor& v, Series& s);
void fields(config::FieldVisitor& v, Histogram& h);
void fields(config::FieldVisitor& v, Failure& f);
void fields(config::FieldVisitor& v, RequestRow& r);
void fields(config::FieldVisitor& v, RunDocument& r);
void fields(config::FieldVisitor& v, RunResult& r);

}  // namespace kvsim::metrics
