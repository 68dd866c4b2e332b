#include "partition/field/describe.hpp"

#include <nlohmann/json.hpp>

namespace kandinsky::partition::field {

std::string describe(const Learnt& learnt, std::size_t folds, const Cells& cells, std::size_t bins,
                     const LearntShift* shift) {
    const auto& [candidates, products, weights, fit] = learnt;
    using Json = nlohmann::json;
    const bool judged = products.folds > 0;
    Json list = Json::array();
    double loss = 0;
    for (std::size_t k = 0; k < candidates.size(); ++k) {
        const Candidate& one = candidates[k];
        for (std::size_t j = 0; j < candidates.size(); ++j)
            loss += weights[j] * weights[k] * products.at(j, k);
        list.push_back(
            {{"bandwidth", one.kind == Candidate::Kind::image ? Json() : Json(one.bandwidth * cells.side())},
             {"mirror", one.mirror},
             {"rings", one.kind == Candidate::Kind::rings ? Json(one.tau) : Json()},
             {"weight", weights[k]},
             {"loss", judged ? Json(products.at(k, k)) : Json()}});
    }
    Json out{{"kind", "field"}, {"candidates", list},   {"folds", folds},
             {"bins", bins},    {"cell", cells.side()}, {"loss", judged ? Json(loss) : Json()}};
    if (shift != nullptr) out["adapt"] = Json::parse(partition::describe(*shift));
    return out.dump();
}

}  // namespace kandinsky::partition::field
